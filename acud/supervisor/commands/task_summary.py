"""Answer `task_summary`."""

from __future__ import annotations

from acud.protocol.requests.tasks import TaskSummary, TaskSummaryReply
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.tasks.summary import summary


def handle(app: App, request: TaskSummary, call: Call) -> TaskSummaryReply:
    """Tell a task within the budget."""
    view, detail = app.tasks.view(app.tasks.find(request.task_id)), request.detail_level
    told = summary(app.tasks.tree(view.task, detail, view.items), detail, request.max_tokens)
    return TaskSummaryReply(
        task_id=view.task.task_id,
        status=view.task.status,
        summary=told.text,
        tokens=told.tokens,
        left_out=told.left_out,
        view=view if request.as_data else None,
    )
