"""Answer `task_drill_down`."""

from __future__ import annotations

from acud.protocol.requests.tasks import TaskDrillDown, TaskDrillDownReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: TaskDrillDown, call: Call) -> TaskDrillDownReply:
    """Show one plan item with its newest actions."""
    task_id = app.tasks.find(request.task_id).task_id
    item = app.store.tasks.item(task_id, request.ordinal)
    return TaskDrillDownReply(task_id, item, app.store.actions.newest_of_item(task_id, item.ordinal, request.limit))
