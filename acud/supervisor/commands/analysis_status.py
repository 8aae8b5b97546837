"""Answer `analysis_status`."""

from __future__ import annotations

from acud.protocol.requests.commentary import AnalysisStatus, AnalysisStatusReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: AnalysisStatus, call: Call) -> AnalysisStatusReply:
    """Return how the loop is doing; asking is no listening."""
    return app.commentary.status()
