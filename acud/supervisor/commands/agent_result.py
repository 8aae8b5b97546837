"""Answer `agent_result`."""

from __future__ import annotations

from acud.agent.nouns import RunInfo
from acud.protocol.requests.agents import AgentResult, AgentResultReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: AgentResult, call: Call) -> None:
    """Answer when the run has ended, or after `block_s` with its state so far; an end that was told is seen."""

    def done(run: RunInfo, ended: bool) -> None:
        seen = ended and not request.peek
        call.reply(AgentResultReply(run, ended), (lambda: app.wakes.run_seen(run.run_id)) if seen else None)

    app.agents.when_ended(request.run_id, request.block_s, done)
