"""Answer `events_since`."""

from __future__ import annotations

from acud.protocol.requests.daemon import EventsSince, EventsSinceReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: EventsSince, call: Call) -> EventsSinceReply:
    """Return stored events after a number."""
    found = app.store.events.since(request.after, request.topic, request.limit)
    return EventsSinceReply(found.events, found.newest, found.trimmed)
