"""Answer `gui_do`."""

from __future__ import annotations

from msgspec.structs import replace

from acud.desktop import instructions, views
from acud.errors import AcudError
from acud.protocol.children import PictureAsk
from acud.protocol.requests.gui_do import DoReply, GuiDo
from acud.protocol.requests.look import Picture
from acud.supervisor import forms
from acud.supervisor.aiming import Aimed
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.instructed import Ending, Run
from acud.supervisor.screens import Screen
from acud.tasks.nouns import ActionType
from acud.types import Target
from acud.waits.request import check_until, parse_target

_SETTLE_S = 0.3
_SETTLE_TIMEOUT_S = 2.0
"""A picture shows the display after this: what was clicked may still be drawing itself."""


class _Instructed:
    """One request on its way: its display, its instruction, then its picture."""

    def __init__(self, app: App, request: GuiDo, call: Call) -> None:
        self.app = app
        self.request = request
        self.call = call
        self.instruction = instructions.parse(request.instruction)
        if request.expect is not None:
            check_until(request.expect)
        view = views.parse(request.view) if request.view else None
        shown = view.display if view else app.handles.display_of(*instructions.places(self.instruction))
        named = request.display or ("" if request.task_id else shown)
        self.place = app.tasks.place(request.task_id, request.target, named)
        target = parse_target(request.target, self.place.display)
        self.run = Run(app, request, call, target, self.on_end)
        self.log = app.diary.doing(self.place.task_id, ActionType.GUI, instructions.said(self.instruction))
        self.ending: Ending | None = None

    def begin(self) -> None:
        """Its start is on disk: find the display."""
        self.app.hosting.with_display(self.run.target.display, self.call.later(self.on_display))

    def on_display(self, outcome: Screen | AcudError) -> None:
        """Do it."""
        if isinstance(outcome, AcudError):
            self.run.fail(outcome)
            return
        self.run.screen = outcome
        self.run.target = replace(self.run.target, display=outcome.name)
        self.app.takeovers.check(outcome, self.request.lease)
        forms.follow(self.run, self.instruction)

    def on_end(self, ending: Ending | AcudError) -> None:
        """Take the picture that was asked for, or answer."""
        if isinstance(ending, AcudError):
            self.log(ending, None)
            self.call.fail(ending)
            return
        self.ending = ending
        if self.request.picture:
            idle = self.call.later(self.on_idle)
            self.app.hands.idle(self.run.screen, _SETTLE_S, _SETTLE_TIMEOUT_S, idle)
        else:
            self.answer(ending, None)

    def on_idle(self, _: bool) -> None:
        """It settled, or did not in time: the picture shows it as it is."""
        self.app.aiming.at(Target(self.run.screen.name), self.call.later(self.on_aim))

    def on_aim(self, outcome: Aimed | AcudError) -> None:
        """The frame to show is there."""
        if isinstance(outcome, AcudError):
            self.on_picture(outcome)
            return
        ask = PictureAsk("jpeg", self.request.max_side_px, self.request.quality)
        self.app.looks.take(outcome.picture, ask, self.call.later(self.on_picture))

    def on_picture(self, outcome: Picture | AcudError) -> None:
        """Answer; what was done is done, whatever became of the picture."""
        assert self.ending is not None
        if isinstance(outcome, AcudError):
            self.answer(replace(self.ending, message=f"{self.ending.message} (no picture: {outcome})"), None)
        else:
            self.answer(self.ending, outcome)

    def answer(self, ending: Ending, picture: Picture | None) -> None:
        """Reply; a picture is not stored for a repeat."""
        run = self.run
        reply = DoReply(
            status=ending.status,
            display=run.screen.name,
            message=ending.message,
            did=ending.did,
            found=run.found,
            target_found=run.target_found,
            verdict=ending.verdict,
            baseline=run.baseline,
            picture=picture,
        )
        self.log(None, {"status": reply.status, "did": reply.did, "display": reply.display})
        self.call.reply(reply, kept=replace(reply, picture=None))


def handle(app: App, request: GuiDo, call: Call) -> None:
    """Do it once the start of the request is on disk: no repeat will do it again."""
    call.when_started(_Instructed(app, request, call).begin)
