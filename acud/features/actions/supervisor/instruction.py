"""An instruction in words, carried out for its caller: a client's call, or a run of the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from acud.errors import AcudError, Refused
from acud.features.actions import instructions
from acud.features.actions.supervisor import instruction_verbs
from acud.features.actions.supervisor.instruction_run import InstructionEnding, InstructionRun
from acud.protocol.questions import PictureAsk
from acud.protocol.requests.gui import DoReply, GuiDo
from acud.protocol.requests.looks import Picture
from acud.supervisor.ports import InstructionCaller
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import picture_views
from acud.types.tasks import ActionType
from acud.waits.targets import parse_target
from acud.waits.validation import check_until

if TYPE_CHECKING:
    from acud.features.actions.supervisor.feature import ActionsFeature


_SETTLE_S = 0.3
_SETTLE_TIMEOUT_S = 2.0
"""A picture shows the display after this: what was clicked may still be drawing itself."""


class RunningInstruction:
    """One instruction on its way: its display, its doing, then its picture.

    Raises on making: InvalidRequest for an instruction, view or target that means nothing; NotFound for its task.
    """

    def __init__(self, feature: ActionsFeature, request: GuiDo, caller: InstructionCaller) -> None:
        self.feature = feature
        self.request = request
        self.caller = caller
        self.instruction = instructions.parse(request.instruction)
        if request.expect is not None:
            check_until(request.expect)
        view = picture_views.parse(request.view) if request.view else None
        shown = view.display if view else feature.core.ports.elements.display_of(*instructions.places(self.instruction))
        named = request.display or ("" if request.task_id else shown)
        self.place = feature.core.ports.tasks.place(request.task_id, request.target, named)
        target = parse_target(request.target, self.place.display)
        self.run = InstructionRun(feature, request, caller, target, self.on_end)
        self.log = feature.core.ports.tasks.begin_action(
            self.place.task_id, ActionType.GUI, instructions.instruction_text(self.instruction)
        )
        self.ending: InstructionEnding | None = None

    def begin(self) -> None:
        """Find the display."""
        self.feature.core.displays.with_display(self.run.target.display, self.caller.later(self.on_display))

    def drop(self, reason: str) -> None:
        """Log that it was given up. Its caller runs no further step; what was sent to the display is done."""
        self.log(Refused(reason), None)

    def on_display(self, outcome: WatchedDisplay | AcudError) -> None:
        if isinstance(outcome, AcudError):
            self.run.end(outcome)
            return
        self.run.watched = outcome
        self.run.target = replace(self.run.target, display=outcome.name)
        self.feature.core.takeovers.check(outcome, self.request.lease)
        self.run.begin(lambda: instruction_verbs.follow(self.run, self.instruction))

    def on_end(self, ending: InstructionEnding | AcudError) -> None:
        """Take the picture that was asked for, or answer."""
        if isinstance(ending, AcudError):
            self.log(ending, None)
            self.caller.fail(ending)
            return
        self.ending = ending
        if self.request.picture:
            idle = self.caller.later(self.on_idle)
            self.feature.idle(self.run.watched, _SETTLE_S, _SETTLE_TIMEOUT_S, idle)
        else:
            self.answer(ending, None)

    def on_idle(self, _: bool) -> None:
        """It settled, or did not in time: the picture shows it as it is."""
        ask = PictureAsk("jpeg", self.request.max_side_px, self.request.quality)
        self.feature.picture(self.run.watched, ask, self.caller, self.on_picture)

    def on_picture(self, outcome: Picture | AcudError) -> None:
        """Answer; what was done is done, whatever became of the picture."""
        assert self.ending is not None
        if isinstance(outcome, AcudError):
            self.answer(replace(self.ending, message=f"{self.ending.message} (no picture: {outcome})"), None)
        else:
            self.answer(self.ending, outcome)

    def answer(self, ending: InstructionEnding, picture: Picture | None) -> None:
        run = self.run
        reply = DoReply(
            status=ending.status,
            display=run.watched.name,
            message=ending.message,
            did=ending.did,
            found=run.found,
            target_found=run.target_found,
            verdict=ending.verdict,
            baseline=run.baseline,
            picture=picture,
            spent=run.spent,
            field=ending.field,
            effects=ending.effects,
        )
        points = {"points": run.pressed} if run.pressed else {}
        self.log(None, {"status": reply.status, "did": reply.did, "display": reply.display, **points})
        self.caller.reply(reply, kept=replace(reply, picture=None, field=None, effects=None))
