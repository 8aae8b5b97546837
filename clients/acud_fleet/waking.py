"""The route `fleet`: a wake that the stream acknowledged is sent, and needs its host no more."""

from __future__ import annotations

import time
from typing import Literal

import msgspec
import nats.errors

from acud import log
from acud.errors import AcudError
from acud.jetstream.connection import Connection
from acud.jetstream.naming import key_of
from acud.protocol.relay import Deliver, Delivered
from acud.protocol.wakes import SharedWake
from acud_fleet import streams
from acud_fleet.forwarding import ID

_LOG = log.logger("fleet")
_MAX_REASON = 200
ANYBODY = "main"
"""The agent that is meant where a wake names none, as in OpenClaw."""


class Waking:
    """Puts wakes of `host` into the stream of wakes."""

    def __init__(self, host: str, connection: Connection) -> None:
        self._host = host
        self._connection = connection
        self._stream = ""
        self.sent = 0

    async def bring(self, delivery: Deliver) -> Delivered:
        """Publish it under its id, and return how that ended. A repeat, also a reminder, is dropped by the servers:
        the first stays in the stream until its agent acknowledges it.
        """
        began = time.monotonic()
        result, reason = await self._tried(delivery)
        self.sent += result == "sent"
        ms = round((time.monotonic() - began) * 1000, 1)
        _LOG.info("wake.tried", wake=delivery.wake_id, route=delivery.route, result=result, ms=ms)
        return Delivered(delivery.wake_id, delivery.attempt, delivery.route, result, reason[:_MAX_REASON], 0.0, ms)

    async def _tried(self, delivery: Deliver) -> tuple[Literal["sent", "retry", "refused"], str]:
        if not self._connection.connected:
            return "retry", self._connection.down().message
        try:
            await self._publish(delivery)
        except AcudError as fault:
            self._stream = ""  # it may have been removed
            return ("refused" if isinstance(fault.__cause__, nats.errors.MaxPayloadError) else "retry"), fault.message
        return "sent", ""

    async def _publish(self, delivery: Deliver) -> None:
        names = self._connection.names
        self._stream = self._stream or await streams.ensure(self._connection, streams.wakes(names))
        body = msgspec.json.encode(shared(delivery, self._host))
        with self._connection.translated("wake"):
            await self._connection.streams.publish(
                subject_of(self._connection, delivery.agent_id),
                body,
                stream=self._stream,
                headers={ID: delivery.wake_id},
                timeout=streams.PUBLISH_S,
            )


def subject_of(connection: Connection, agent_id: str) -> str:
    """Return the subject of an agent's wakes."""
    return connection.names.wake(key_of(agent_id or ANYBODY))


def shared(delivery: Deliver, host: str) -> SharedWake:
    """Return what the stream keeps of a delivery."""
    return SharedWake(
        id=delivery.wake_id,
        host=host,
        kind=delivery.kind,
        text=delivery.text,
        created_utc_s=delivery.created_utc_s,
        wait_id=delivery.wait_id,
        task_id=delivery.task_id,
        run_id=delivery.run_id,
        session_key=delivery.session_key,
        agent_id=delivery.agent_id,
    )
