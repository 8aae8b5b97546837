"""The events that clients can request again, numbered without gaps and without reuse."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from acud.base.typed_values import decode_json
from acud.protocol.events import Event
from acud.store.connection import Database, Table
from acud.store.rows import Row, RowCodec, load

_SQL = load("events")
_EVENT = RowCodec(Event)


class EventPage(Struct, frozen=True):
    """Events, oldest first. `newest`: the newest number assigned. `trimmed`: as in `EventsSinceReply`."""

    events: tuple[Event, ...]
    newest: int
    trimmed: int


class EventTable(Table):
    """The table `events`. Every method may raise StoreUnavailable.

    Numbers of a turn that is rolled back are assigned again: report an event, and `newest`, only after the commit.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._last: dict[str, int] = {}  # by topic: the number of its newest event. Void once writes were undone.
        self._undone = database.undone

    def append(self, topic: str, subject: str, data: dict[str, Any], utc_s: float) -> Event:
        """Keep an event and return it with its number and the previous one on its topic. `data` must be JSON-able."""
        if self._undone != self._database.undone:
            self._last.clear()
            self._undone = self._database.undone
        if topic not in self._last:
            self._last[topic] = self._read_number(_SQL["newest_of_topic"], {"topic": topic})
        prev = self._last[topic]
        text = msgspec.json.encode(data)
        row: Row = {"prev": prev, "topic": topic, "utc_s": utc_s, "subject": subject, "data": text.decode()}
        number = self._last[topic] = self._database.insert(_SQL["append"], row)
        return Event(number, prev, topic, utc_s, subject, decode_json(text))  # as it is read later

    def since(self, after: int, topic: str, limit: int) -> EventPage:
        """Return the events above `after` with a topic that begins with `topic`, at most `limit`."""
        bindings: Row = {"after": after, "beginning": topic, "limit": limit}
        events = self._read_all(_EVENT, _SQL["since"], bindings)
        newest = self.newest()
        oldest = self._read_number(_SQL["oldest"]) or newest + 1
        return EventPage(events, newest, oldest if after < oldest - 1 else 0)

    def newest(self) -> int:
        """Return the newest number ever assigned (0: none), also when its event was trimmed."""
        return self._read_number(_SQL["newest"])

    def trim(self, keep: int, limit: int = -1) -> int:
        """Delete all but the newest `keep` events; return how many."""
        self._last.clear()
        return self._database.write(_SQL["trim"], {"keep": keep, "limit": limit})
