"""Answer `wake_seen`."""

from __future__ import annotations

from acud.errors import NotFound
from acud.protocol.requests.wakes import WakeSeen, WakeSeenReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: WakeSeen, call: Call) -> WakeSeenReply:
    """Mark each wake seen."""
    return WakeSeenReply(tuple(wake_id for wake_id in request.wake_ids if not _seen(app, wake_id)))


def _seen(app: App, wake_id: str) -> bool:
    try:
        app.wakes.wake_seen(wake_id)
    except NotFound:
        return False
    return True
