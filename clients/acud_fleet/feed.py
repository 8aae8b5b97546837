"""The events of the fleet: those of its hosts and its own, numbered by the endpoint, kept for those who ask later."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec

from acud.errors import InvalidRequest
from acud.protocol import codec
from acud.protocol.events import Beat, Event
from acud.protocol.requests.events_since import EventsSince, EventsSinceReply

_KEPT = 20_000

Send = Callable[[bytes, bytes], None]
"""Publishes one message: topic and body."""


class Feed:
    """Numbers begin at this run's start in milliseconds, so that they rise over restarts of the endpoint too: whoever
    asks for events of an earlier run is told that they are gone (`trimmed`).
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self.newest = int(time.time() * 1000)
        self._first = self.newest + 1
        self._kept: OrderedDict[int, Event] = OrderedDict()
        self._by_topic: dict[str, int] = {}

    def tell(self, topic: str, subject: str, data: dict[str, Any]) -> None:
        """Tell what the endpoint itself saw."""
        self._add(Event(0, 0, topic, time.time(), subject, data))

    def take(self, host: str, data: bytes) -> None:
        """Tell an event of `host`; what is none is left out. One that its host does not store is not kept here."""
        try:
            event = codec.decode(data, Event)
        except InvalidRequest:
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


def _outer(value: Any, host: str) -> Any:
    return f"{host}/{value}" if isinstance(value, str) and value[:1] == ":" and value[1:2].isdigit() else value
