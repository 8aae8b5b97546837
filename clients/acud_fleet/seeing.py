"""The word that agents took wakes of this host, told to its daemon: also what was said while the host was away."""

from __future__ import annotations

import asyncio

import msgspec
import nats.errors
from nats.aio.msg import Msg

from acud import log
from acud.errors import AcudError
from acud.jetstream.cancelling import cancellation_kept
from acud.jetstream.connection import Connection
from acud.jetstream.door import words_of
from acud.jetstream.naming import key_of
from acud.protocol.wakes import SeenWake
from acud_client.aio import AsyncClient
from acud_fleet import streams
from acud_fleet.wakes import bound

_LOG = log.logger("fleet")
_ACK_WAIT_S = 30.0
_AT_ONCE = 100
_FETCH_S = 5.0
_AGAIN_S = 1.0


class Seeing:
    """Marks the wakes of `host` seen in the daemon behind `client`."""

    def __init__(self, host: str, connection: Connection, client: AsyncClient) -> None:
        self._host = host
        self._connection = connection
        self._client = client
        self._fault = ""

    async def run(self) -> None:
        """Go on until cancelled; what could not be told to the daemon comes again."""
        while True:
            try:
                await self._follow()
            except (AcudError, nats.errors.Error, OSError) as fault:
                words = fault.message if isinstance(fault, AcudError) else words_of(fault)
                if words != self._fault:
                    _LOG.warning("fleet.seen_waiting", fault=words)
                self._fault = words
                await asyncio.sleep(_AGAIN_S)

    async def _follow(self) -> None:
        names = self._connection.names
        stream = await streams.ensure(self._connection, streams.wakes(names))
        durable = f"seen_{key_of(self._host)}"
        source, _ = await bound(self._connection, stream, durable, names.seen(self._host), _ACK_WAIT_S)
        self._fault = ""
        while True:
            try:
                with cancellation_kept():
                    messages = await source.fetch(_AT_ONCE, timeout=_FETCH_S)
            except TimeoutError:
                continue
            await self._tell(messages)

    async def _tell(self, messages: list[Msg]) -> None:
        ids = tuple(wake_id for wake_id in map(_id, messages) if wake_id)
        if ids:
            reply = await self._client.wake_seen(ids)
            _LOG.info("fleet.seen", wakes=len(ids), unknown=len(reply.unknown))
        for message in messages:
            await message.ack()


def _id(message: Msg) -> str:
    try:
        return msgspec.json.decode(message.data, type=SeenWake).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        _LOG.warning("fleet.seen_unreadable", fault=str(fault))
        return ""
