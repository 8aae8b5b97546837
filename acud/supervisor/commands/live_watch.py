"""Answer `live_watch`."""

from __future__ import annotations

from acud.protocol.requests.looks import LiveWatch, LiveWatched
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: LiveWatch, call: Call) -> LiveWatched:
    """Begin, prolong or end a watch."""
    screen = app.screens.get(request.display)
    watch = app.live.watch(screen, request.fps, request.for_s, request.watch)
    task_id = next((task_id for owned, task_id in app.hosting.owned() if owned is screen), "")
    return app.live.seen(screen, watch, task_id)
