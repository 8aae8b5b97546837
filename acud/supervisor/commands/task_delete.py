"""Answer `task_delete`."""

from __future__ import annotations

from acud.protocol.requests.tasks import TaskDelete, TaskDeleteReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: TaskDelete, call: Call) -> TaskDeleteReply:
    """Forget a task."""
    return TaskDeleteReply(*app.tasks.delete(request.task_id))
