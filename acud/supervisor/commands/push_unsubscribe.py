"""Answer `push_unsubscribe`."""

from __future__ import annotations

from acud.protocol.requests.notifications import PushReply, PushUnsubscribe
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: PushUnsubscribe, call: Call) -> PushReply:
    """Forget it."""
    return PushReply(app.pushing.unsubscribe(request.push_id, request.pass_id))
