"""Answer `push_subscribe`."""

from __future__ import annotations

from acud.protocol.requests.notifications import PushReply, PushSubscribe
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: PushSubscribe, call: Call) -> PushReply:
    """Keep it."""
    return PushReply(app.pushing.subscribe(request.pass_id, request.target))
