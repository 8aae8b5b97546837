"""Answer `sense_list`."""

from __future__ import annotations

from acud.protocol.requests.commentary import SenseList, SenseListReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: SenseList, call: Call) -> SenseListReply:
    """Return the events above a number."""
    app.commentary.attend()
    return SenseListReply(app.store.sense.above(request.after, pictures=not request.meta_only))
