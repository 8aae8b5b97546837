"""Answer `task_update`."""

from __future__ import annotations

from acud.protocol.requests.tasks import TaskReply, TaskUpdate
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.tasks.nouns import Detail, ItemStatus, TaskStatus, TaskView
from acud.tasks.summary import summary

_ANSWER_TOKENS = 500


def handle(app: App, request: TaskUpdate, call: Call) -> TaskReply:
    """Say, ask, move. An end with open plan items is noted, not refused."""
    view = app.tasks.view(app.tasks.update(request))
    return TaskReply(view, tuple(_notes(view)), _answer(app, view) if request.query else "")


def _notes(view: TaskView) -> list[str]:
    still = [item.ordinal for item in view.items if item.status in (ItemStatus.PENDING, ItemStatus.ACTIVE)]
    if view.task.status is not TaskStatus.COMPLETED or not still:
        return []
    return [f"completed with open plan items: {', '.join(map(str, still[:20]))}"]


def _answer(app: App, view: TaskView) -> str:
    return summary(app.tasks.tree(view.task, Detail.FOCUSED, view.items), Detail.FOCUSED, _ANSWER_TOKENS).text
