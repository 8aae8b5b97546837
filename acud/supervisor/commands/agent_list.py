"""Answer `agent_list`."""

from __future__ import annotations

from msgspec.structs import replace

from acud.protocol.requests.agents import AgentList, AgentListReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: AgentList, call: Call) -> AgentListReply:
    """Return the newest runs without their steps."""
    task_id = app.tasks.find(request.task_id).task_id if request.task_id else ""
    runs = app.store.agent_runs.newest(request.limit, task_id)
    return AgentListReply(tuple(replace(app.agents.find(run.run_id), steps=()) for run in runs))
