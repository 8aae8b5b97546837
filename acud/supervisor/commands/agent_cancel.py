"""Answer `agent_cancel`."""

from __future__ import annotations

from acud.protocol.requests.agents import AgentCancel, RunReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: AgentCancel, call: Call) -> RunReply:
    """End the run now."""
    return RunReply(app.agents.cancel(request.run_id, request.reason))
