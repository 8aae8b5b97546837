"""An agent's wakes from the stream: each at least once, always with the same id, until it is acknowledged."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from types import TracebackType
from typing import Self

import msgspec
import nats.errors
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from acud.base import log
from acud.base.errors import AcudError, InvalidRequest, Unavailable
from acud.base.typed_values import decode_json
from acud.features.fleet.cancellation import cancellation_kept
from acud.features.fleet.connection import NatsConnection, end_subscription
from acud.features.fleet.names import ENDPOINT, sender_of
from acud.features.fleet.signatures import Identity, Signed
from acud.protocol.wakes import SeenWake, SharedWake
from acud_fleet import streams
from acud_fleet.events import ID

_LOG = log.logger("fleet")
ACK_WAIT_S = 30.0
"""A reader that is silent about a wake for so long has lost it, and another gets it. A living one renews it."""
_FETCH_S = 2.0
_LATE_S = 0.5
"""What the request of a fetch may take to the servers."""
_ACK_S = 8.0
_AGAIN_S = 0.5
_REMEMBERED = 10_000
HELD_S = 30.0
"""How long a message is left in the stream while its sender cannot be verified."""
ANYBODY = "main"
"""The agent of a wake that names none, as in OpenClaw."""


class TakenWake:
    """A wake in an agent's hand: `ack` it once it is acted on. `deliveries`: how often it was given out."""

    def __init__(self, wakes: AgentWakes, wake: SharedWake, message: Msg) -> None:
        self.wake = wake
        self.deliveries: int = message.metadata.num_delivered or 1
        self._wakes = wakes
        self._message = message

    def is_in(self, message: Msg) -> bool:
        """Return whether `message` is this very one, given out again; another with the same id is a double."""
        return bool(message.metadata.sequence.stream == self._message.metadata.sequence.stream)

    def renew(self, message: Msg) -> None:
        """Take `message`, the same wake given out again, in place of the one before."""
        self._message = message

    async def ack(self) -> None:
        """Acknowledge that it was seen: its host learns of it (once it is there), and it is not given out again.

        Raises: Unavailable when no server took that; it may be called again.
        """
        await self._wakes.see(self.wake)
        await self.drop()

    async def drop(self) -> None:
        """Take it off the stream without acknowledging it as seen. Raises: Unavailable."""
        await self._wakes.drop(self.wake.id, self._message)

    async def release(self, delay_s: float = 0.0) -> None:
        """Let the stream give the wake out again, not before `delay_s`. Raises: Unavailable."""
        await self._wakes.release(self.wake.id, self._message, delay_s)

    async def hold(self) -> None:
        """Report that the agent still acts on the wake. Raises: Unavailable."""
        await self._wakes.hold(self._message)


class AgentWakes:
    """The wakes of `agent` ("": the main one), taken from its durable consumer, which all its readers share. Iterate
    over it inside an `async with`. What was taken and not acknowledged goes back at the end.
    """

    def __init__(self, connection: NatsConnection, agent: str = "") -> None:
        self._connection = connection
        self._agent = agent or ANYBODY
        self._ack_wait_s = ACK_WAIT_S
        self._stream = ""
        self._source: JetStreamContext.PullSubscription | None = None
        self._held: dict[str, TakenWake] = {}
        self._done: OrderedDict[str, None] = OrderedDict()
        self._holding: asyncio.Task[None] | None = None
        self._asked_until_s = 0.0
        """Until when the servers may still answer a fetch that was cancelled; 0: it was answered."""

    async def __aenter__(self) -> Self:
        await self._find_consumer()
        self._holding = asyncio.create_task(self._hold_all())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._holding is not None:
            self._holding.cancel()
            await asyncio.gather(self._holding, return_exceptions=True)
        delay_s = max(0.0, self._asked_until_s - time.monotonic())  # sooner they would answer that fetch with it
        with contextlib.suppress(AcudError):  # what cannot be given back now comes back by itself
            for taken in list(self._held.values()):
                await taken.release(delay_s)
        if self._source is not None:
            await end_subscription(self._source, delay_s)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> TakenWake:
        taken = await self.next()
        assert taken is not None
        return taken

    async def next(self, timeout_s: float | None = None) -> TakenWake | None:
        """Return the next wake, or None when none came for `timeout_s` (None: wait for ever, also for the servers).

        Raises: Unavailable when the servers were away at the end of that time.
        """
        found = await self.batch(1, timeout_s)
        return found[0] if found else None

    async def batch(self, most: int, timeout_s: float | None = None) -> list[TakenWake]:
        """Return what is there at once, about `most` wakes, else the first that comes; as `next` does."""
        end_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            left_s = _FETCH_S if end_s is None else min(_FETCH_S, end_s - time.monotonic())
            found = await self._fetch_wakes(most, max(0.05, left_s))
            if found:
                return found
            if end_s is not None and time.monotonic() >= end_s:
                if not self._connection.connected:
                    raise self._connection.down()
                return []

    # ---- one wake --------------------------------------------------------------------------------------------------

    async def _fetch_wakes(self, most: int, timeout_s: float) -> list[TakenWake]:
        try:
            if self._source is None:
                await self._find_consumer()
            assert self._source is not None
            self._asked_until_s = time.monotonic() + timeout_s + _LATE_S
            with cancellation_kept():
                messages = await self._source.fetch(most, timeout=timeout_s)
                self._asked_until_s = 0.0
                found = [await self._take_wake(one) for one in messages]
        except (AcudError, nats.errors.Error, OSError) as fault:
            await self._pass_failure(fault)
            return []
        return [taken for taken in found if taken is not None]

    async def _pass_failure(self, fault: Exception) -> None:
        """Treat a failure as a time without wakes. The consumer is looked for again, unless that was all."""
        if not isinstance(fault, TimeoutError):
            _LOG.info("fleet.wakes_waiting", agent=self._agent, fault=str(fault))
            self._source = None
            await asyncio.sleep(_AGAIN_S)

    async def _take_wake(self, message: Msg) -> TakenWake | None:
        sender, signatures = _sender_of(message.subject), self._connection.signatures
        try:
            await signatures.check(Signed.WAKE, message.subject, message.data, message.headers, sender)
            wake = read_wake(message)
        except Unavailable:
            await message.nak(delay=HELD_S)
            return None
        except InvalidRequest as fault:
            _LOG.warning("fleet.wake_refused", agent=self._agent, fault=fault.message)
            await message.term()
            return None
        taken = TakenWake(self, wake, message)
        held = self._held.get(wake.id)
        if held is not None and held.is_in(message):
            held.renew(message)  # the report that it is in hand came too late
            return None
        if held is not None or wake.id in self._done:  # published long after the first, or its acknowledgement was lost
            await message.ack()
            return None
        self._held[wake.id] = taken
        return taken

    async def see(self, wake: SharedWake) -> None:
        """Report to the wake's host that the agent has seen it. Raises: Unavailable."""
        subject = self._connection.names.acknowledgement(wake.host, self._agent)
        body = msgspec.json.encode(SeenWake(wake.id))
        headers = {ID: f"seen:{wake.id}"} | self._connection.signatures.header(Signed.SEEN, subject, body)
        with self._connection.translate_faults(f"wake {wake.id}"):
            await self._connection.streams.publish(subject, body, stream=self._stream, headers=headers)

    async def drop(self, wake_id: str, message: Msg) -> None:
        """Acknowledge a message and wait until the servers know. Raises: Unavailable; the wake may come again then, and
        is dropped here.
        """
        self._held.pop(wake_id, None)
        self._done[wake_id] = None
        if len(self._done) > _REMEMBERED:
            self._done.popitem(last=False)
        with self._connection.translate_faults(f"wake {wake_id}"), contextlib.suppress(nats.errors.MsgAlreadyAckdError):
            await message.ack_sync(timeout=_ACK_S)

    async def release(self, wake_id: str, message: Msg, delay_s: float) -> None:
        """Give a message back. Raises: Unavailable."""
        self._held.pop(wake_id, None)
        with self._connection.translate_faults(f"wake {wake_id}"):
            await message.nak(delay=delay_s or None)

    async def hold(self, message: Msg) -> None:
        """Report that a message is in hand. Raises: Unavailable."""
        with self._connection.translate_faults("wake"):
            await message.in_progress()

    # ---- the consumer ----------------------------------------------------------------------------------------------

    async def _find_consumer(self) -> None:
        names = self._connection.names
        self._stream = await self._connection.find_stream(streams.wakes(names))
        reader, what = names.wake_reader(self._agent), f"agent {self._agent}"
        self._source, self._ack_wait_s = await find_consumer(self._connection, self._stream, reader, what)

    async def _hold_all(self) -> None:
        while True:
            await asyncio.sleep(self._ack_wait_s / 3)
            for taken in list(self._held.values()):
                with contextlib.suppress(AcudError):
                    await taken.hold()


async def publish_wake(connection: NatsConnection, wake: SharedWake, sender: str, stream: str) -> None:
    """Put a wake into the stream, under its id: a repeat is dropped. Raises: Unavailable."""
    subject, body = connection.names.wake(wake.agent_id or ANYBODY, sender), msgspec.json.encode(wake)
    headers = {ID: wake.id} | connection.signatures.header(Signed.WAKE, subject, body)
    with connection.translate_faults("wake"):
        await connection.streams.publish(subject, body, stream=stream, headers=headers, timeout=streams.PUBLISH_S)


def _sender_of(subject: str) -> Identity:
    sender = sender_of(subject)
    return Identity("endpoint") if sender == ENDPOINT else Identity("host", sender)


def read_wake(message: Msg) -> SharedWake:
    """Return the wake in a message. Raises: InvalidRequest for what is none, or in another host's name: that only an
    endpoint may use, for a host that is lost.
    """
    try:
        wake = decode_json(message.data, SharedWake)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise InvalidRequest(f"no wake: {fault}") from fault
    if sender_of(message.subject) not in (wake.host, ENDPOINT):
        raise InvalidRequest(f"a wake in the name of host {wake.host}, sent by {sender_of(message.subject)}")
    return wake


async def find_consumer(
    connection: NatsConnection, stream: str, reader: str, grantee: str
) -> tuple[JetStreamContext.PullSubscription, float]:
    """Return the durable consumer `reader`, which the administrator made for `grantee`, and how long it waits for an
    acknowledgement. Raises: Unavailable, also when it is missing.
    """
    found = await connection.read_consumer(stream, reader, grantee)
    with connection.translate_faults(f"consumer {reader}"):
        return await connection.streams.pull_subscribe_bind(reader, stream=stream), found.config.ack_wait or ACK_WAIT_S
