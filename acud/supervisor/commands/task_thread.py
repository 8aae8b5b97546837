"""Answer `task_thread`."""

from __future__ import annotations

from acud.protocol.requests.tasks import TaskThread, TaskThreadReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: TaskThread, call: Call) -> TaskThreadReply:
    """Show the newest messages."""
    task_id, store = app.tasks.find(request.task_id).task_id, app.store.tasks
    return TaskThreadReply(task_id, store.messages(task_id, request.limit), store.count_messages(task_id))
