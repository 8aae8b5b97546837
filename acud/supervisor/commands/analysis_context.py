"""Answer `analysis_context`."""

from __future__ import annotations

from acud.analysis.prompt import user_prompt
from acud.protocol.requests.commentary import AnalysisContextGet, AnalysisContextReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: AnalysisContextGet, call: Call) -> AnalysisContextReply:
    """Return the window as of now."""
    app.commentary.attend()
    window = app.commentary.window()
    return AnalysisContextReply(window, user_prompt(window))
