"""/api/events: what happened, page by page, as server-sent events or over a WebSocket; a client that does not read is
cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope
from starlette.websockets import WebSocket, WebSocketDisconnect

from acud.base.errors import AcudError, InvalidRequest
from acud.protocol.events import Event
from acud.protocol.requests.daemon import EventsSince, EventsSinceReply
from acud.protocol.web import AccessToken, Scope
from acud_client.stream import Trimmed
from acud_web.access import Revocations, first_of
from acud_web.api.hub import Cut, EventHub, Reader, Told, make_told
from acud_web.api.operation import ApiRequest, Nothing, Operation, parse_query
from acud_web.daemon_gateway import DaemonGateway, Owners
from acud_web.route_table import Row

HEARTBEAT_S = 15.0
_PAGE = 500


class Telling:
    """One stream. `topic`: the beginning of its topics. `begin` it, then take from `told`."""

    def __init__(self, gateway: DaemonGateway, reader: Reader, access_token: AccessToken, topic: str) -> None:
        self._gateway = gateway
        self.reader = reader
        self._pass = access_token
        self._topic = topic
        self._owners = Owners(gateway)
        self.position = 0
        """Everything up to this number was sent, or is not for this client."""
        self._first: EventsSinceReply | None = None

    async def begin(self, since: int | None) -> None:
        """Take up after the number `since`, or from now on. Raises: AcudError when the daemon does not answer."""
        if since is None:
            self.position = (await self._ask_page(0, 1)).newest
        else:
            self.position = since
            self._first = await self._ask_page(since, _PAGE)

    async def read_all(self) -> AsyncGenerator[Told | None, None]:
        """Yield item after item, and None where nothing came for 15 s. Raises: Cut; AcudError when the daemon can't be
        asked for missed events or an event's owner: the client comes back with its last number.
        """
        async for item in self._read_missed():
            yield item
        while True:
            told = await self.reader.next(HEARTBEAT_S)
            if told is None or await self._accept_item(told):
                yield told

    async def _read_missed(self) -> AsyncGenerator[Told, None]:
        page = self._first
        while page is not None:
            if page.trimmed > self.position + 1:
                yield make_told(Trimmed(self.position, page.trimmed))
            elif page.newest < self.position:
                # Numbers from another life of the store: what came between cannot be known.
                yield make_told(Trimmed(self.position, page.newest + 1))
                self.position = page.newest
            for event in page.events:
                if await self._may_send(event):
                    yield make_told(event)
                self.position = event.n
            page = await self._ask_page(self.position, _PAGE) if len(page.events) == _PAGE else None

    async def _accept_item(self, entry: Told) -> bool:
        """Return whether to pass the item on, and count it."""
        if not isinstance(entry.item, Event):
            return True
        if 0 < entry.item.n <= self.position:
            return False
        new = await self._may_send(entry.item)
        self.position = max(self.position, entry.item.n)
        return new

    async def _may_send(self, event: Event) -> bool:
        return event.topic.startswith(self._topic) and await self._owners.sees(self._pass, event)

    async def _ask_page(self, after: int, limit: int) -> EventsSinceReply:
        return await self._gateway.ask(EventsSince(after, limit=limit), EventsSinceReply)


RETRY_MS = 2000
"""What a browser waits before it comes back."""
_LAST_WORDS_S = 0.5
"""A client that does not read gets no goodbye."""

Say = Callable[[Told | None, int], Awaitable[None]]


class StreamEnd(Struct, frozen=True, tag="bye"):
    """The stream ends: `slow` (come back with the last number), `revoked` or `expired` (the token), `unavailable`."""

    code: str
    reason: str


async def _send_all(
    connection: HTTPConnection, telling: Telling, say: Say, left: Coroutine[Any, Any, None]
) -> StreamEnd | None:
    """Send events until something ends it; return the end, None when the reader has `left`. A send that is stuck is
    given up.
    """
    return await first_of(_pass_ended(connection), _send_events(telling, say), _await_stuck(telling.reader), left)


_SLOW = StreamEnd("slow", "too many events were not read in time: come back with the last number")


async def _send_events(telling: Telling, say: Say) -> StreamEnd:
    try:
        async with aclosing(telling.read_all()) as items:
            async for told in items:
                await say(told, telling.position)
    except Cut:
        return _SLOW
    except AcudError as fault:
        return StreamEnd("unavailable", fault.message)
    raise AssertionError("events never end by themselves")


async def _await_stuck(reader: Reader) -> StreamEnd:
    await reader.until_cut()
    return _SLOW


async def _pass_ended(connection: HTTPConnection) -> StreamEnd:
    revocations: Revocations = connection.state.revocations
    why = await revocations.until_ended(connection.state.access_token)
    return StreamEnd(why, f"the access token is {why}")


class ServerSentEvents(Response):
    """An answer that goes on until its reader leaves, its access token ends or it reads too slowly (the HTML standard,
    9.2).
    """

    def __init__(self, connection: HTTPConnection, since: int | None, topic: str) -> None:
        super().__init__(media_type="text/event-stream")
        del self.headers["content-length"]
        self.headers["X-Accel-Buffering"] = "no"
        self._connection = connection
        self._since = since
        self._topic = topic

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Serve it. Raises: AcudError before anything was sent."""
        hub: EventHub = self._connection.state.hub
        async with hub.reader() as reader:
            state = self._connection.state
            telling = Telling(state.gateway, reader, state.access_token, self._topic)
            await telling.begin(self._since)
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await self._until_gone(telling, receive, send)

    async def _until_gone(self, telling: Telling, receive: Receive, send: Send) -> None:
        async def write(text: str, more: bool = True) -> None:
            await send({"type": "http.response.body", "body": text.encode(), "more_body": more})

        async def say(entry: Told | None, position: int) -> None:
            await write(frame_event(entry, position))

        await write(f"retry: {RETRY_MS}\nid: {telling.position}\n\n")
        end = await _send_all(self._connection, telling, say, _wait_until_left(receive))
        if end is not None:
            with suppress(TimeoutError):  # a client that does not read does not read this either
                async with asyncio.timeout(_LAST_WORDS_S):
                    await write(_format_event("bye", msgspec.json.encode(end).decode()), more=False)


def frame_event(entry: Told | None, position: int) -> str:
    """Return an item as the text of a server-sent event. Stored events are messages with their number as id; others
    have their kind as the event's name. Nothing becomes a comment and, so that a reader that may see little does not
    ask for everything again, the number reached.
    """
    if entry is None:
        return f": alive\nid: {position}\n\n"
    if isinstance(entry.item, Event):
        number = f"id: {entry.item.n}\n" if entry.item.n else ""
        return f"{number}data: {entry.text}\n\n"
    tag = str(type(entry.item).__struct_config__.tag)
    return _format_event(tag, entry.text)


def _format_event(name: str, data: str) -> str:
    return f"event: {name}\ndata: {data}\n\n"


async def _wait_until_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


_CLOSING = {"revoked": 1008, "expired": 1008, "slow": 1013, "unavailable": 1012}
"""RFC 6455, section 7.4, and its registry: policy, try again later, service restart."""


def _end_stream(socket: WebSocket) -> Say:
    async def say(entry: Told | None, position: int) -> None:
        await socket.send_text(entry.text if entry is not None else f'{{"type":"alive","n":{position}}}')

    return say


async def _say_bye(socket: WebSocket, bye: StreamEnd) -> None:
    try:
        async with asyncio.timeout(_LAST_WORDS_S):
            await socket.send_text(msgspec.json.encode(bye).decode())
            await socket.close(_CLOSING.get(bye.code, 1011), bye.code)
    except (TimeoutError, WebSocketDisconnect, RuntimeError):
        return  # it is gone, or does not read


async def _wait_until_closed(socket: WebSocket) -> None:
    """Return when the client has gone. Its messages are ignored."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


_HIGHEST = 2**53
Number = Annotated[int, Meta(ge=0, le=_HIGHEST)]
Topic = Annotated[str, Meta(max_length=64)]


class EventsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Events after the number `since`, of topics that begin with `topic`."""

    since: Number = 0
    topic: Topic = ""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200


class StreamQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`since`: begin after this number; without it (and without Last-Event-ID) with what happens from now on."""

    since: Number | None = None
    topic: Topic = ""


class EventsPage(Struct, frozen=True):
    """Events, oldest first, as far as the access token may see them. `next`: ask again with `since` so. `newest`: the
    newest number there is. `trimmed`: the oldest still kept, when some asked for are gone (else 0).
    """

    events: tuple[Event, ...]
    next: int
    newest: int
    trimmed: int = 0


async def page(request: ApiRequest[EventsQuery, Nothing]) -> EventsPage:
    """List stored events. A page may be empty and not the last: go on while `next` is below `newest`."""
    query = request.query
    found = await request.ask(EventsSince(query.since, query.topic, query.limit), EventsSinceReply)
    owners = Owners(request.gateway)
    seen = [event for event in found.events if await owners.sees(request.access_token, event)]
    last = found.events[-1].n if len(found.events) == query.limit else max(query.since, found.newest)
    return EventsPage(tuple(seen), last, found.newest, found.trimmed)


async def stream(request: ApiRequest[StreamQuery, Nothing]) -> Response:
    """Follow events as server-sent events. Each is a message with its number as id and itself as JSON; `Last-Event-ID`
    goes before `since`. Other events are `trimmed` (`after`, `first`: what came between is not kept), `down` and `up`
    (the daemon) and, before the end, `bye` (`code`: slow, revoked, expired or unavailable).
    """
    given = request.connection.headers.get("last-event-id", "")
    return ServerSentEvents(
        request.connection, last_number(given) if given else request.query.since, request.query.topic
    )


def last_number(text: str) -> int:
    """Return the number in the header Last-Event-ID. Raises: InvalidRequest."""
    if not (text.isascii() and text.isdigit() and int(text[:17]) <= _HIGHEST and len(text) <= 16):
        raise InvalidRequest("Last-Event-ID: not the number of an event", field="Last-Event-ID")
    return int(text)


async def socket(connection: WebSocket) -> None:
    """Follow events as the texts of a WebSocket: the same items as JSON, each with its `type`."""
    query = parse_query(connection, StreamQuery)
    hub: EventHub = connection.state.hub
    async with hub.reader() as reader:
        telling = Telling(connection.state.gateway, reader, connection.state.access_token, query.topic)
        await telling.begin(query.since)  # before: a fault is an HTTP answer
        await connection.accept()
        end = await _send_all(connection, telling, _end_stream(connection), _wait_until_closed(connection))
        if end is not None:
            await _say_bye(connection, end)


OPERATIONS = (
    Operation("GET", "/api/events", Scope.READ, page, EventsPage, EventsQuery),
    Operation("GET", "/api/events/stream", Scope.READ, stream, None, StreamQuery, media="text/event-stream"),
)
ROWS = (Row("WS", "/api/events/ws", socket, Scope.READ),)
