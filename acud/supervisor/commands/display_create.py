"""Answer `display_create`."""

from __future__ import annotations

from acud.errors import AcudError
from acud.protocol.requests.displays import DisplayCreate, DisplayReply
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.fleet import check_labels
from acud.supervisor.screens import Screen


def handle(app: App, request: DisplayCreate, call: Call) -> None:
    """Start a managed display; the reply waits until it is watched."""
    check_labels(app.settings.fleet, request.labels)
    width = request.width or app.settings.display.width
    height = request.height or app.settings.display.height

    def done(outcome: Screen | AcudError) -> None:
        if isinstance(outcome, AcudError):
            call.fail(outcome)
            return
        notes = [f"{width}x{height} is the largest this display can ever have: RANDR cannot grow an Xvfb"]
        call.reply(DisplayReply(app.hosting.info(outcome), (*notes, *app.hosting.notes(outcome))))

    app.hosting.create(width, height, request.window_manager or app.settings.display.window_manager, call.later(done))
