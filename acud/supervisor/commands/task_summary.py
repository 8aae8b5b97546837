"""Answer `task_summary`."""

from __future__ import annotations

from acud.protocol.requests.task_summary import TaskSummary, TaskSummaryReply
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.tasks.summary import summary


def handle(app: App, request: TaskSummary, call: Call) -> TaskSummaryReply:
    """Tell a task within the budget."""
    view = app.tasks.view(app.tasks.find(request.task_id))
    told = summary(
        app.tasks.tree(view.task, request.detail_level, view.items), request.detail_level, request.max_tokens
    )
    return TaskSummaryReply(view, told.text, told.tokens, told.left_out)
