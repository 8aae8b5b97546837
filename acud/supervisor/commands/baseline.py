"""Answer `baseline`."""

from __future__ import annotations

from acud.errors import AcudError
from acud.protocol.requests.looks import Baseline, BaselineReply
from acud.supervisor.aiming import Aimed
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: Baseline, call: Call) -> None:
    """Return a token for a grab made after this call."""

    def aimed(outcome: Aimed | AcudError) -> None:
        if isinstance(outcome, AcudError):
            call.fail(outcome)
            return
        source = outcome.picture.source
        app.looks.baseline(outcome.picture, call.later(lambda token: call.reply(BaselineReply(token, source.display))))

    display = app.tasks.place(request.task_id, request.target, request.display).display
    app.aiming.fresh(request.target, display, (), call.later(aimed))
