"""Answer `record_start`."""

from __future__ import annotations

from acud.errors import AcudError, DisplayDown
from acud.protocol.requests.recordings import RecordReply, RecordStart
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.screens import Screen
from acud.types import DisplayState


def handle(app: App, request: RecordStart, call: Call) -> None:
    """Begin a recording; the default display may have to be started first."""
    place = app.tasks.place(request.task_id, "screen", request.display)

    def on_display(outcome: Screen | AcudError) -> None:
        if isinstance(outcome, AcudError):
            call.fail(outcome)
        elif outcome.state is DisplayState.ENDED:
            call.fail(DisplayDown(f"display {outcome.name} has ended: {outcome.reason}", hint="acud display list"))
        else:
            recording = app.recordings.start(outcome, fps=request.fps, task_id=place.task_id)
            call.reply(RecordReply(recording, str(app.recordings.folders.folder(recording.folder))))

    app.hosting.with_display(place.display, call.later(on_display))
