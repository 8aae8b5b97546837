"""Answer `task_register`."""

from __future__ import annotations

from acud.errors import AcudError
from acud.ids import new_id
from acud.protocol.requests.tasks import TaskRegister, TaskReply
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.fleet import check_labels
from acud.supervisor.screens import Screen
from acud.supervisor.tasks.service import check_data


def handle(app: App, request: TaskRegister, call: Call) -> TaskReply | None:
    """Begin a task; the reply waits for its display."""
    check_data("metadata", request.metadata)
    check_labels(app.settings.fleet, request.labels)
    task_id = new_id("task")
    if not request.isolated_display:
        return TaskReply(app.tasks.view(app.tasks.register(request, task_id, None)))

    def on_display(outcome: Screen | AcudError) -> None:
        if isinstance(outcome, AcudError):
            call.fail(outcome)
        else:
            task = app.tasks.register(request, task_id, outcome)
            call.reply(TaskReply(app.tasks.view(task), app.hosting.notes(outcome)))

    size = app.settings.display
    width, height = request.display_width or size.width, request.display_height or size.height
    app.hosting.create(width, height, size.window_manager, call.later(on_display), task_id)
    return None
