"""Answer `task_actions`."""

from __future__ import annotations

from acud.protocol.requests.tasks import TaskActions, TaskActionsReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: TaskActions, call: Call) -> TaskActionsReply:
    """Show the newest actions of a task."""
    task_id, actions = app.tasks.find(request.task_id).task_id, app.store.actions
    return TaskActionsReply(task_id, actions.newest(task_id, request.limit), actions.count(task_id))
