"""Answer `analysis_history`."""

from __future__ import annotations

from acud.protocol.requests.commentary import AnalysisHistory, AnalysisHistoryReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: AnalysisHistory, call: Call) -> AnalysisHistoryReply:
    """Return the newest results."""
    app.commentary.attend()
    return AnalysisHistoryReply(app.store.analyses.newest(request.limit))
