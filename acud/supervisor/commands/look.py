"""Answer `look`."""

from __future__ import annotations

from acud.errors import AcudError
from acud.protocol.children import PictureAsk
from acud.protocol.requests.look import Look, Picture
from acud.supervisor.aiming import Aimed
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: Look, call: Call) -> None:
    """Take a picture from a grab made after this call."""
    ask = PictureAsk(request.format, request.max_side_px, request.quality)

    def done(outcome: Picture | AcudError) -> None:
        if isinstance(outcome, AcudError):
            call.fail(outcome)
        else:
            call.reply(outcome)

    def aimed(outcome: Aimed | AcudError) -> None:
        if isinstance(outcome, AcudError):
            call.fail(outcome)
        else:
            app.looks.take(outcome.picture, ask, call.later(done))

    app.aiming.fresh(request.target, request.display, (), call.later(aimed))
