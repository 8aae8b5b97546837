"""/api/events: what happened, page by page or as it happens."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response
from starlette.websockets import WebSocket

from acud.errors import InvalidRequest
from acud.protocol.events import Event
from acud.protocol.requests.daemon import EventsSince, EventsSinceReply
from acud.protocol.web import Scope
from acud_web.api.operation import (
    ApiRequest,
    Nothing,
    Operation,
    query_of,
)
from acud_web.api.owners import Owners
from acud_web.api.streams import ServerSentEvents, over_websocket
from acud_web.route_table import Row

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
    """Events, oldest first, as far as the pass may see them. `next`: ask again with `since` so. `newest`: the newest
    number there is. `trimmed`: the oldest still kept, when some asked for are gone (else 0).
    """

    events: tuple[Event, ...]
    next: int
    newest: int
    trimmed: int = 0


async def page(asked: ApiRequest[EventsQuery, Nothing]) -> EventsPage:
    """List stored events. A page may be empty and not the last: go on while `next` is below `newest`."""
    query = asked.query
    found = await asked.ask(EventsSince(query.since, query.topic, query.limit), EventsSinceReply)
    owners = Owners(asked.desk)
    seen = [event for event in found.events if await owners.sees(asked.pass_, event)]
    last = found.events[-1].n if len(found.events) == query.limit else max(query.since, found.newest)
    return EventsPage(tuple(seen), last, found.newest, found.trimmed)


async def stream(asked: ApiRequest[StreamQuery, Nothing]) -> Response:
    """Follow events as server-sent events. Each is a message with its number as id and itself as JSON; `Last-Event-ID`
    goes before `since`. Other events are `trimmed` (`after`, `first`: what came between is not kept), `down` and `up`
    (the daemon) and, before the end, `bye` (`code`: slow, revoked, expired or unavailable).
    """
    given = asked.connection.headers.get("last-event-id", "")
    return ServerSentEvents(asked.connection, last_number(given) if given else asked.query.since, asked.query.topic)


def last_number(text: str) -> int:
    """Return the number in the header Last-Event-ID. Raises: InvalidRequest."""
    if not (text.isascii() and text.isdigit() and int(text[:17]) <= _HIGHEST and len(text) <= 16):
        raise InvalidRequest("Last-Event-ID: not the number of an event", field="Last-Event-ID")
    return int(text)


async def socket(connection: WebSocket) -> None:
    """Follow events as the texts of a WebSocket: the same items as JSON, each with its `type`."""
    query = query_of(connection, StreamQuery)
    await over_websocket(connection, query.since, query.topic)


OPERATIONS = (
    Operation("GET", "/api/events", Scope.READ, page, EventsPage, EventsQuery),
    Operation("GET", "/api/events/stream", Scope.READ, stream, None, StreamQuery, media="text/event-stream"),
)
ROWS = (Row("WS", "/api/events/ws", socket, Scope.READ),)
