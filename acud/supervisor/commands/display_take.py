"""Answer `display_take`."""

from __future__ import annotations

from acud.errors import AcudError
from acud.protocol.requests.displays import DisplayTake, TakeReply
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.screens import Screen


def handle(app: App, request: DisplayTake, call: Call) -> None:
    """Take the display over; the reply leaves when that is stored."""

    def found(outcome: Screen | AcudError) -> None:
        if isinstance(outcome, AcudError):
            call.fail(outcome)
            return
        taken = app.takeovers.take(outcome, request.who, request.for_s, request.note, request.lease)
        info = app.hosting.taken_info(outcome, taken)
        call.reply(TakeReply(taken.lease, taken.until.utc_s, info))

    app.hosting.with_display(request.display, call.later(found))
