"""Events of the fleet: a host's, put into its stream; heard once by a listener; numbered anew by the endpoint.

`EventForwarder` puts a host's stored events into the stream one after the other: none missing, none twice. Nothing is
remembered here: where to go on is what the stream's newest message of this host says, so that a kill at any moment
costs nothing. One at a time, because several under way could leave a hole when the stream's leader dies. A publication
that is repeated is stored once and heard twice: `EventDedupe` leaves the second out.
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
"""The header by which the servers know a message again (NATS documentation, JetStream, message deduplication)."""
TRIMMED = "trimmed"
"""The topic that tells a gap: the daemon no longer kept what was to be told."""
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
        """The store in a publication whose acknowledgement did not come: it may be in the stream, not to be seen yet,
        and has to come again under the same id.
        """
        self.forwarded = 0

    async def run(self) -> None:
        """Forward until cancelled; whatever fails is begun anew where the stream stands then."""
        while True:
            try:
                await self._follow()
            except AcudError as fault:
                self._warn(fault)
                await asyncio.sleep(_AGAIN_S)

    def _warn(self, fault: AcudError) -> None:
        if fault.message != self._fault:
            _LOG.warning("fleet.events_waiting", fault=fault.message)
        self._fault = fault.message

    async def _follow(self) -> None:
        stream = await self._connection.find(streams.events(self._connection.names))
        at = await self._position(stream)
        _LOG.info("fleet.events_from", instance=at.instance, n=at.n)
        async with self._client.events(after=at.n) as events:
            async for item in events:
                if isinstance(item, Trimmed) or item.n:
                    await self._put(stream, at.instance, item)

    async def _put(self, stream: str, instance: str, item: Item) -> None:
        topic = TRIMMED if isinstance(item, Trimmed) else item.topic
        identity = f"{self._host}:{instance}:{_mark(item)}"
        subject, body = self._connection.names.event(self._host, topic), codec.encode(item)
        headers = {ID: identity} | self._connection.signatures.header(Signed.EVENT, subject, body, identity)
        self._unsure = instance
        with self._connection.translated(f"event {_mark(item)}"):
            await self._connection.streams.publish(
                subject, body, stream=stream, headers=headers, timeout=streams.PUBLISH_S
            )
        self.forwarded += 1
        self._fault = self._unsure = ""

    # ---- where to go on --------------------------------------------------------------------------------------------

    async def _position(self, stream: str) -> StreamPosition:
        newest = await self._newest(stream)
        if newest is not None and await self._continues(newest[1]):
            return StreamPosition(newest[0], reached(newest[1]))
        return StreamPosition(self._unsure or secrets.token_hex(4), 0)

    async def _newest(self, stream: str) -> tuple[str, Item] | None:
        """Return the newest item of this host in the stream, and the instance it is of."""
        with self._connection.translated(f"stream {stream}"):
            try:
                info = await self._connection.streams.stream_info(stream)
                found = await self._connection.streams.get_last_msg(
                    stream, self._connection.names.event(self._host, ">"), direct=bool(info.config.allow_direct)
                )
            except nats.js.errors.NotFoundError:
                return None
        identity, body = (found.headers or {}).get(ID, ""), found.data or b""
        parts, own = identity.split(":"), Identity("host", self._host)
        # Somebody else's message on this host's subjects names no instance, or has another's signature: events are then
        # told anew, never left out.
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

    async def _continues(self, told: Item) -> bool:
        """Tell whether the daemon's store is the one that `told` came from, not a new or a restored one."""
        page = await self._client.events_since(max(0, reached(told) - 1), limit=1)
        if page.newest < reached(told):
            return False
        same = [event for event in page.events if isinstance(told, Event) and event.n == told.n]
        return all((event.utc_s, event.topic) == (told.utc_s, told.topic) for event in same if isinstance(told, Event))


def read(data: bytes) -> Item:
    """Return the event, or the gap, in a message of the stream. Raises: InvalidRequest when it is neither."""
    return codec.decode(data, Item)  # type: ignore[arg-type]  # a union is a type to msgspec


def reached(item: Item) -> int:
    """Return the number up to which `item` leaves nothing to be told."""
    return item.first - 1 if isinstance(item, Trimmed) else item.n


class EventDedupe:
    """The newest number heard of each host, and of which store."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[str, int]] = {}

    def is_news(self, host: str, identity: str) -> bool:
        """Note the message `identity` of `host` ("": one that is not stored); False when it was heard before."""
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
    """Tell whether a message on `subject` says that events of its host are lost."""
    return subject.endswith(f".{TRIMMED}")


class EventFeed:
    """Numbers begin at this run's start in milliseconds, so that they rise over restarts of the endpoint too: whoever
    asks for events of an earlier run is told that they are gone (`trimmed`).
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._began_utc_s = time.time()
        self.newest = int(time.time() * 1000)
        self._first = self.newest + 1
        self._kept: OrderedDict[int, Event] = OrderedDict()
        self._by_topic: dict[str, int] = {}
        self._ended: OrderedDict[tuple[str, str], None] = OrderedDict()
        """By host and wait, ends that the fleet told in the host's place."""

    def tell_end(self, info: WaitInfo, host: str) -> None:
        """Tell that the fleet ended a wait of `host`, once; that the host ends it on its return is not told again. Of
        one that goes on elsewhere nothing is told.
        """
        if (host, info.wait_id) in self._ended:
            return
        self._ended[host, info.wait_id] = None
        if len(self._ended) > _KEPT:
            self._ended.popitem(last=False)
        if info.ended_utc_s < self._began_utc_s or info.verdict.code == REARMED:
            return
        facts = {  # those of an end on its host: nobody saw anything
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
        self.tell(f"wait.{info.state.value}", info.wait_id, facts)

    def tell(self, topic: str, subject: str, data: dict[str, Any]) -> None:
        """Tell what the endpoint itself saw."""
        self._add(Event(0, 0, topic, time.time(), subject, data))

    def take(self, host: str, data: bytes) -> None:
        """Tell an event of `host`; what is none is left out. One that its host does not store is not kept here."""
        try:
            event = codec.decode(data, Event)
        except InvalidRequest:
            return
        if event.utc_s < self._began_utc_s:
            return  # a host that joined tells what it keeps as well
        if (host, event.subject) in self._ended and event.topic in _ENDS:
            return
        told = msgspec.structs.replace(
            event,
            subject=_outer(event.subject, host),
            data={name: _outer(value, host) for name, value in event.data.items()} | {"host": host},
        )
        if event.n:
            self._add(told)
        else:
            self._send(event.topic.encode(), codec.encode(msgspec.structs.replace(told, prev=0)))

    def _add(self, event: Event) -> None:
        self.newest += 1
        numbered = msgspec.structs.replace(event, n=self.newest, prev=self._by_topic.get(event.topic, 0))
        self._by_topic[event.topic] = self.newest
        self._kept[self.newest] = numbered
        if len(self._kept) > _KEPT:
            self._first = self._kept.popitem(last=False)[0] + 1
        self._send(event.topic.encode(), codec.encode(numbered))

    def missed(self) -> None:
        """Events may have passed unseen: whoever reads on is told that some are gone."""
        self.newest += 1
        self._kept.clear()
        self._first = self.newest + 1
        self._by_topic = dict.fromkeys(self._by_topic, self.newest)

    def beat(self) -> None:
        """Tell the newest number."""
        self._send(b"beat", codec.encode(Beat(self.newest, time.time())))

    def since(self, request: EventsSince) -> EventsSinceReply:
        """Return the events after a number."""
        found = [one for n, one in self._kept.items() if n > request.after and one.topic.startswith(request.topic)]
        trimmed = self._first if request.after < self._first - 1 else 0
        return EventsSinceReply(tuple(found[: request.limit]), self.newest, trimmed)


def _mark(item: Item) -> str:
    return f"{TRIMMED}-{item.after}-{item.first}" if isinstance(item, Trimmed) else str(item.n)


def _outer(value: Any, host: str) -> Any:
    return f"{host}/{value}" if isinstance(value, str) and value[:1] == ":" and value[1:2].isdigit() else value
