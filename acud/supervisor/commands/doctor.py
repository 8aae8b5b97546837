"""Answer `doctor`."""

from __future__ import annotations

from acud.protocol.requests.daemon import Doctor, DoctorReply
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.health import findings


def handle(app: App, request: Doctor, call: Call) -> DoctorReply:
    """Return what the daemon finds of itself."""
    return DoctorReply(tuple(findings(app)))
