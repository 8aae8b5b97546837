"""Answer `task_list`."""

from __future__ import annotations

from acud.protocol.requests.tasks import TaskList, TaskListReply
from acud.store import Of
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.tasks.nouns import TaskStatus


def handle(app: App, request: TaskList, call: Call) -> TaskListReply:
    """Return the tasks asked for, newest first."""
    living = (TaskStatus.ACTIVE, TaskStatus.PAUSED)
    of = Of(request.tasks, request.displays)
    page = app.store.tasks.newest(request.statuses or (() if request.ended else living), request.limit, of)
    return TaskListReply(app.tasks.views(page.tasks), page.total)
