"""Answer `wait_show`."""

from __future__ import annotations

from acud.protocol.requests.waits import WaitShow, WaitShowReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: WaitShow, call: Call) -> WaitShowReply:
    """Return one wait with its newest evaluations, oldest first."""
    info = app.waits.find(request.wait_id)
    evaluations = app.store.evaluations.newest(info.wait_id, request.evaluations)
    return WaitShowReply(info, tuple(evaluations), app.evidence_path(info))
