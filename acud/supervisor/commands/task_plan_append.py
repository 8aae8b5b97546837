"""Answer `task_plan_append`."""

from __future__ import annotations

from acud.protocol.requests.tasks import TaskPlanAppend, TaskReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: TaskPlanAppend, call: Call) -> TaskReply:
    """Add plan items at the end."""
    return TaskReply(app.tasks.view(app.tasks.append(request)))
