"""Answer `wait_cancel`."""

from __future__ import annotations

from acud.protocol.requests.waits import WaitCancel, WaitReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: WaitCancel, call: Call) -> WaitReply:
    """End a live wait without a verdict."""
    return WaitReply(app.waits.cancel(request.wait_id, request.reason))
