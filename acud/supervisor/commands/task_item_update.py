"""Answer `task_item_update`."""

from __future__ import annotations

from acud.protocol.requests.tasks import TaskItemUpdate, TaskReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: TaskItemUpdate, call: Call) -> TaskReply:
    """Set the status of a plan item."""
    return TaskReply(app.tasks.view(app.tasks.update_item(request)))
