"""Events of the fleet: a host's, put into its stream; received once by a listener; numbered anew by the endpoint.

`EventForwarder` puts a host's stored events into the stream one after the other: none missing, none twice. Nothing is
remembered here: it goes on from this host's newest message in the stream, so that a kill at any moment costs nothing.
One at a time, because several under way could leave a hole when the stream's leader dies. A repeated publication is
stored once and received twice: `EventDedupe` leaves the second out.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec
import nats.js.errors
from msgspec import Struct

from acud.base import log
from acud.base.errors import AcudError, InvalidRequest, Unavailable
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.signatures import Identity, Signed
from acud.protocol import codec
from acud.protocol.events import Beat, Event
from acud.protocol.fleet_ends import REARMED
from acud.protocol.requests.daemon import EventsSince, EventsSinceReply
from acud.types import WaitInfo, WaitState, condition_text
from acud_client.aio import AsyncClient
from acud_client.stream import Trimmed
from acud_fleet import streams

_LOG = log.logger("fleet")
_AGAIN_S = 1.0
ID = "Nats-Msg-Id"
"""The header by which the servers recognise a repeated message (NATS documentation, JetStream, message
deduplication).
"""
TRIMMED = "trimmed"
"""The topic of a gap: the daemon no longer kept the events."""
Item = Event | Trimmed
_NUMBER = re.compile("[0-9]{1,20}")
_KEPT = 20_000
_ENDS = frozenset(f"wait.{state.value}" for state in WaitState if state is not WaitState.WATCHING)
Send = Callable[[bytes, bytes], None]
"""Publishes one message: topic and body."""


class StreamPosition(Struct, frozen=True):
    """Every event up to `n` of the store `instance` is in the stream. Another store counts from 1 again."""

    instance: str
    n: int


class EventForwarder:
    """Puts the events of the daemon behind `client`, the daemon of `host`, into the stream of events."""

    def __init__(self, host: str, connection: NatsConnection, client: AsyncClient) -> None:
        self._host = host
        self._connection = connection
        self._client = client
        self._fault = ""
        self._unsure = ""
        """The store in a publication without an acknowledgement: it may be in the stream, not visible yet, and has to
        be repeated under the same id.
        """
        self.forwarded = 0

    async def run(self) -> None:
        """Forward until cancelled; after a failure go on from the stream's position."""
        while True:
            try:
                await self._forward_events()
            except AcudError as fault:
                self._log_fault(fault)
                await asyncio.sleep(_AGAIN_S)

    def _log_fault(self, fault: AcudError) -> None:
        if fault.message != self._fault:
            _LOG.warning("fleet.events_waiting", fault=fault.message)
        self._fault = fault.message

    async def _forward_events(self) -> None:
        stream = await self._connection.find_stream(streams.events(self._connection.names))
        at = await self._find_position(stream)
        _LOG.info("fleet.events_from", instance=at.instance, n=at.n)
        async with self._client.events(after=at.n) as events:
            async for item in events:
                if isinstance(item, Trimmed) or item.n:
                    await self._put_item(stream, at.instance, item)

    async def _put_item(self, stream: str, instance: str, item: Item) -> None:
        topic = TRIMMED if isinstance(item, Trimmed) else item.topic
        identity = f"{self._host}:{instance}:{_mark_of(item)}"
        subject, body = self._connection.names.event(self._host, topic), codec.encode(item)
        headers = {ID: identity} | self._connection.signatures.header(Signed.EVENT, subject, body, identity)
        self._unsure = instance
        with self._connection.translate_faults(f"event {_mark_of(item)}"):
            await self._connection.streams.publish(
                subject, body, stream=stream, headers=headers, timeout=streams.PUBLISH_S
            )
        self.forwarded += 1
        self._fault = self._unsure = ""

    # ---- where to go on --------------------------------------------------------------------------------------------

    async def _find_position(self, stream: str) -> StreamPosition:
        newest = await self._find_newest(stream)
        if newest is not None and await self._is_same_store(newest[1]):
            return StreamPosition(newest[0], find_reached(newest[1]))
        return StreamPosition(self._unsure or secrets.token_hex(4), 0)

    async def _find_newest(self, stream: str) -> tuple[str, Item] | None:
        """Return the newest item of this host in the stream, and the instance it is of."""
        with self._connection.translate_faults(f"stream {stream}"):
            try:
                info = await self._connection.streams.stream_info(stream)
                found = await self._connection.streams.get_last_msg(
                    stream, self._connection.names.event(self._host, ">"), direct=bool(info.config.allow_direct)
                )
            except nats.js.errors.NotFoundError:
                return None
        identity, body = (found.headers or {}).get(ID, ""), found.data or b""
        parts, own = identity.split(":"), Identity("host", self._host)
        # A message of another sender on this host's subjects names no instance, or has another's signature: events are
        # then repeated, never left out.
        try:
            check = self._connection.signatures.check
            await check(Signed.EVENT, found.subject or "", body, found.headers, own, identity)
        except InvalidRequest:
            return None
        except Unavailable as fault:
            if fault.facts.get("reason") != "unproven":
                raise
            return None
        return (parts[1], read(body)) if len(parts) == 3 else None

    async def _is_same_store(self, item: Item) -> bool:
        """Return whether the daemon's store is the one that `item` came from, not a new or a restored one."""
        page = await self._client.events_since(max(0, find_reached(item) - 1), limit=1)
        if page.newest < find_reached(item):
            return False
        same = [event for event in page.events if isinstance(item, Event) and event.n == item.n]
        return all((event.utc_s, event.topic) == (item.utc_s, item.topic) for event in same if isinstance(item, Event))


def read(data: bytes) -> Item:
    """Return the event, or the gap, in a message of the stream. Raises: InvalidRequest when it is neither."""
    return codec.decode(data, Item)  # type: ignore[arg-type]  # a union is a type to msgspec


def find_reached(item: Item) -> int:
    """Return the number up to which no event is missing after `item`."""
    return item.first - 1 if isinstance(item, Trimmed) else item.n


class EventDedupe:
    """The newest number heard of each host, and of which store."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[str, int]] = {}

    def is_news(self, host: str, identity: str) -> bool:
        """Note the message `identity` of `host` ("": one that is not stored); False when it was received before."""
        parts = identity.split(":")
        if len(parts) != 3 or _NUMBER.fullmatch(parts[2]) is None:
            return True
        instance, n = parts[1], int(parts[2])
        known, newest = self._newest.get(host, ("", 0))
        if instance == known and n <= newest:
            return False
        self._newest[host] = (instance, n)
        return True


def is_gap(subject: str) -> bool:
    """Return whether a message on `subject` means that events of its host are lost."""
    return subject.endswith(f".{TRIMMED}")


class EventFeed:
    """Numbers begin at this run's start in milliseconds, so that they rise over restarts of the endpoint too: events of
    an earlier run are reported as gone (`trimmed`).
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._began_utc_s = time.time()
        self.newest = int(time.time() * 1000)
        self._first = self.newest + 1
        self._kept: OrderedDict[int, Event] = OrderedDict()
        self._by_topic: dict[str, int] = {}
        self._ended: OrderedDict[tuple[str, str], None] = OrderedDict()
        """By host and wait, ends that the fleet published in place of the host."""

    def publish_end(self, info: WaitInfo, host: str) -> None:
        """Publish, once, that the fleet ended a wait of `host`; the host's own end on its return is left out. Nothing
        is published of one that goes on elsewhere.
        """
        if (host, info.wait_id) in self._ended:
            return
        self._ended[host, info.wait_id] = None
        if len(self._ended) > _KEPT:
            self._ended.popitem(last=False)
        if info.ended_utc_s < self._began_utc_s or info.verdict.code == REARMED:
            return
        facts = {  # those of an end on its host: there was no verdict
            "message": info.message,
            "condition": condition_text(info.spec.until),
            "label": info.spec.label,
            "answer": info.verdict.answer.value,
            "detail": info.verdict.detail,
            "display": info.display,
            "frame": 0,
            "evidence": "",
            "identity": "",
            "judge_calls": info.judge_calls,
            "changed_to_resolved_ms": None,
            "host": host,
        }
        self.publish_own(f"wait.{info.state.value}", info.wait_id, facts)

    def publish_own(self, topic: str, subject: str, data: dict[str, Any]) -> None:
        """Publish an event of the endpoint itself."""
        self._add_event(Event(0, 0, topic, time.time(), subject, data))

    def take(self, host: str, data: bytes) -> None:
        """Publish an event of `host`; leave out what is none. One that its host does not store is not kept here."""
        try:
            event = codec.decode(data, Event)
        except InvalidRequest:
            return
        if event.utc_s < self._began_utc_s:
            return  # a joining host's own events contain it
        if (host, event.subject) in self._ended and event.topic in _ENDS:
            return
        told = msgspec.structs.replace(
            event,
            subject=_add_host(event.subject, host),
            data={name: _add_host(value, host) for name, value in event.data.items()} | {"host": host},
        )
        if event.n:
            self._add_event(told)
        else:
            self._send(event.topic.encode(), codec.encode(msgspec.structs.replace(told, prev=0)))

    def _add_event(self, event: Event) -> None:
        self.newest += 1
        numbered = msgspec.structs.replace(event, n=self.newest, prev=self._by_topic.get(event.topic, 0))
        self._by_topic[event.topic] = self.newest
        self._kept[self.newest] = numbered
        if len(self._kept) > _KEPT:
            self._first = self._kept.popitem(last=False)[0] + 1
        self._send(event.topic.encode(), codec.encode(numbered))

    def mark_missed(self) -> None:
        """Mark that events may have been missed: readers get a gap."""
        self.newest += 1
        self._kept.clear()
        self._first = self.newest + 1
        self._by_topic = dict.fromkeys(self._by_topic, self.newest)

    def publish_newest(self) -> None:
        """Publish the newest number."""
        self._send(b"beat", codec.encode(Beat(self.newest, time.time())))

    def since(self, request: EventsSince) -> EventsSinceReply:
        """Return the events after a number."""
        found = [one for n, one in self._kept.items() if n > request.after and one.topic.startswith(request.topic)]
        trimmed = self._first if request.after < self._first - 1 else 0
        return EventsSinceReply(tuple(found[: request.limit]), self.newest, trimmed)


def _mark_of(item: Item) -> str:
    return f"{TRIMMED}-{item.after}-{item.first}" if isinstance(item, Trimmed) else str(item.n)


def _add_host(value: Any, host: str) -> Any:
    return f"{host}/{value}" if isinstance(value, str) and value[:1] == ":" and value[1:2].isdigit() else value
