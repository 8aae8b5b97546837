"""Answer `task_log_action`."""

from __future__ import annotations

from acud.protocol.requests.tasks import TaskLogAction, TaskLogActionReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: TaskLogAction, call: Call) -> TaskLogActionReply:
    """Keep what the agent did."""
    task, action = app.tasks.log_action(request)
    return TaskLogActionReply(task.task_id, action)
