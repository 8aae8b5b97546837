"""Answer `look`."""

from __future__ import annotations

from acud.errors import AcudError
from acud.protocol.children import PictureAsk
from acud.protocol.requests.look import Look, Picture
from acud.supervisor.aiming import Aimed
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.tasks.nouns import ActionType


def handle(app: App, request: Look, call: Call) -> None:
    """Take a picture from a grab made after this call."""
    place = app.tasks.place(request.task_id, request.target, request.display)
    log = app.diary.doing(place.task_id, ActionType.VISION, f"look at {request.target}")
    ask = PictureAsk(request.format, request.max_side_px, request.quality, request.redacted)

    def done(outcome: Picture | AcudError) -> None:
        if isinstance(outcome, AcudError):
            log(outcome, None)
            call.fail(outcome)
        else:
            log(None, {"display": outcome.display, "frame": outcome.frame})
            call.reply(outcome)

    def aimed(outcome: Aimed | AcudError) -> None:
        if isinstance(outcome, AcudError):
            log(outcome, None)
            call.fail(outcome)
        else:
            app.looks.take(outcome.picture, ask, call.later(done))

    app.aiming.fresh(request.target, place.display, (), call.later(aimed))
