"""A host's wakes and the stream: published (the route `fleet`), carried for others (`[wake] carry`), acknowledged.

A wake that the stream acknowledged is sent, and needs its host no more. Several hosts may carry for one agent; a wake
that one of them took and did not bring is given to another. The daemon that made a wake learns that its agent took it,
also after it was away.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec
import nats.errors
from nats.aio.msg import Msg

from acud.base import log
from acud.base.errors import AcudError, InvalidRequest, Unavailable
from acud.base.typed_values import convert, decode_json
from acud.features.fleet.cancellation import cancellation_kept
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.names import sender_of
from acud.features.fleet.server_policy import fault_text
from acud.features.fleet.signatures import Identity, Signed
from acud.protocol.delivery import Deliver, Delivered
from acud.protocol.fleet import ObjectPlace
from acud.protocol.fleet_ends import wake_of_lost
from acud.protocol.requests.wakes import WakeCarryReply
from acud.protocol.wakes import SeenWake, SharedWake
from acud.types import WaitInfo
from acud_client.aio import AsyncClient
from acud_fleet import streams
from acud_fleet.places import read_info
from acud_fleet.wakes import HELD_S, AgentWakes, TakenWake, find_consumer, publish_wake

_LOG = log.logger("fleet")
_MAX_REASON = 200
_AGAIN_S = 1.0
_PAUSE_MAX_S = 300.0
_AT_ONCE = 100
_FETCH_S = 5.0


WriteEnd = Callable[[str], Awaitable[ObjectPlace | None]]
"""Writes the end of a wait to the fleet, and returns the end that stands there instead, None for none."""


class WakePublisher:
    """Puts wakes of `host` into the stream of wakes. If the fleet ended the wait before, the wake has that end."""

    def __init__(self, host: str, connection: NatsConnection, write_end: WriteEnd) -> None:
        self._host = host
        self._connection = connection
        self._write_end = write_end
        self._stream = ""
        self.sent = 0

    async def publish_wake(self, delivery: Deliver) -> Delivered:
        """Publish it under its id, and return how that ended. A repeat, also a reminder, is dropped by the servers:
        the first stays in the stream until its agent acknowledges it.
        """
        began = time.monotonic()
        result, reason = await self._try_publishing(delivery)
        self.sent += result == "sent"
        ms = round((time.monotonic() - began) * 1000, 1)
        _LOG.info("wake.tried", wake=delivery.wake_id, route=delivery.route, result=result, ms=ms)
        return Delivered(delivery.wake_id, delivery.attempt, delivery.route, result, reason[:_MAX_REASON], 0.0, ms)

    async def _try_publishing(self, delivery: Deliver) -> tuple[Literal["sent", "retry", "refused"], str]:
        if not self._connection.connected:
            return "retry", self._connection.down().message
        try:
            await self._publish_unless_moved(delivery)
        except AcudError as fault:
            self._stream = ""  # it may have been removed
            return ("refused" if isinstance(fault.__cause__, nats.errors.MaxPayloadError) else "retry"), fault.message
        return "sent", ""

    async def _publish_unless_moved(self, delivery: Deliver) -> None:
        self._stream = self._stream or await self._connection.find_stream(streams.wakes(self._connection.names))
        wake = make_shared_wake(delivery, self._host)
        told = await self._write_end(delivery.wait_id) if delivery.wait_id else None
        if told is not None and (told.sent or told.moved_to):
            return
        info = None if told is None else read_info(told, WaitInfo)
        wake = wake if info is None else wake_of_lost(info, self._host)
        await publish_wake(self._connection, wake, self._host, self._stream)


def make_shared_wake(delivery: Deliver, host: str) -> SharedWake:
    """Return the wake of a delivery as the stream keeps it."""
    return convert({**msgspec.structs.asdict(delivery), "id": delivery.wake_id, "host": host}, SharedWake)


class WakeCarrier:
    """Brings the wakes of `agent` over the routes of the daemon behind `client`, `side_by_side` of them at a time and
    in no order.
    """

    def __init__(self, agent: str, connection: NatsConnection, client: AsyncClient, side_by_side: int) -> None:
        self._agent = agent
        self._connection = connection
        self._client = client
        self._most = side_by_side
        self._in_hand: set[asyncio.Task[None]] = set()
        self.carried = 0

    async def run(self) -> None:
        """Carry until cancelled; what is in hand then goes back."""
        while True:
            try:
                async with AgentWakes(self._connection, self._agent) as wakes, asyncio.TaskGroup() as group:
                    await self._take_wakes(wakes, group)
            except AcudError as fault:
                _LOG.warning("fleet.carrying_waits", agent=self._agent, fault=fault.message)
                await asyncio.sleep(_AGAIN_S)

    async def _take_wakes(self, wakes: AgentWakes, group: asyncio.TaskGroup) -> None:
        while True:
            for taken in await wakes.batch(max(1, self._most - len(self._in_hand))):
                task = group.create_task(self._carry_wake(taken))
                self._in_hand.add(task)
                task.add_done_callback(self._in_hand.discard)
            while len(self._in_hand) >= self._most:
                await asyncio.wait(self._in_hand, return_when=asyncio.FIRST_COMPLETED)

    async def _carry_wake(self, taken: TakenWake) -> None:
        reply = await self._bring_to_daemon(taken)
        _LOG.info("fleet.carried", wake=taken.wake.id, result=reply.result, route=reply.route, reason=reply.reason)
        self.carried += reply.result == "sent"
        try:
            if reply.result == "sent":
                # Not `ack`: a route took it, which is not yet an agent that saw it.
                await taken.drop()
            else:
                await taken.release(pause_s(taken.deliveries))
        except AcudError as fault:  # it comes again, and is dropped then if a route took it
            _LOG.warning("fleet.carried_untold", wake=taken.wake.id, fault=fault.message)

    async def _bring_to_daemon(self, taken: TakenWake) -> WakeCarryReply:
        try:
            return await self._client.wake_carry(taken.wake)
        except AcudError as fault:
            return WakeCarryReply("retry", None, fault.message)


def pause_s(deliveries: int) -> float:
    """Return the pause before a wake that was given out so often is given out again: doubled each time."""
    return float(min(_PAUSE_MAX_S, 2.0 ** min(deliveries - 1, 60)))


class WakeAcks:
    """Marks the wakes of `host` seen in the daemon behind `client`."""

    def __init__(self, host: str, connection: NatsConnection, client: AsyncClient) -> None:
        self._host = host
        self._connection = connection
        self._client = client
        self._fault = ""

    async def run(self) -> None:
        """Go on until cancelled; marks that the daemon did not take come again."""
        while True:
            try:
                await self._follow_acks()
            except (AcudError, nats.errors.Error, OSError) as fault:
                words = fault.message if isinstance(fault, AcudError) else fault_text(fault)
                if words != self._fault:
                    _LOG.warning("fleet.seen_waiting", fault=words)
                self._fault = words
                await asyncio.sleep(_AGAIN_S)

    async def _follow_acks(self) -> None:
        names = self._connection.names
        stream = await self._connection.find_stream(streams.wakes(names))
        source, _ = await find_consumer(self._connection, stream, names.seen_reader(self._host), f"host {self._host}")
        self._fault = ""
        while True:
            try:
                with cancellation_kept():
                    messages = await source.fetch(_AT_ONCE, timeout=_FETCH_S)
            except TimeoutError:
                continue
            await self._report_seen(messages)

    async def _report_seen(self, batch: list[Msg]) -> None:
        messages = [message for message in batch if await self._is_agents(message)]
        ids = tuple(wake_id for wake_id in map(wake_id_of, messages) if wake_id)
        if ids:
            reply = await self._client.wake_seen(ids)
            _LOG.info("fleet.seen", wakes=len(ids), unknown=len(reply.unknown))
        for message in messages:
            await message.ack()

    async def _is_agents(self, message: Msg) -> bool:
        """Return whether the agent in its subject sent it. A forged one leaves the stream."""
        check, agent = self._connection.signatures.check, Identity("agent", sender_of(message.subject))
        try:
            await check(Signed.SEEN, message.subject, message.data, message.headers, agent)
        except InvalidRequest:
            await message.term()
            return False
        except Unavailable:
            await message.nak(delay=HELD_S)
            return False
        return True


def wake_id_of(message: Msg) -> str:
    try:
        return decode_json(message.data, SeenWake).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        _LOG.warning("fleet.seen_unreadable", fault=str(fault))
        return ""
