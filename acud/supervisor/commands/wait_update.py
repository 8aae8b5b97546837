"""Answer `wait_update`."""

from __future__ import annotations

from acud.protocol.requests.wait_create import WaitReply
from acud.protocol.requests.wait_update import WaitUpdate
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: WaitUpdate, call: Call) -> WaitReply:
    """Change a live wait; a timeout restarts its clock."""
    info, notes = app.waits.update(request)
    return WaitReply(info, tuple(notes))
