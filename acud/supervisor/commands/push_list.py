"""Answer `push_list`."""

from __future__ import annotations

from acud.protocol.requests.notifications import PushList, PushListReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: PushList, call: Call) -> PushListReply:
    """Return who takes notifications."""
    pushing = app.pushing
    return PushListReply(not pushing.off, pushing.public_key, pushing.all(request.pass_id), pushing.off)
