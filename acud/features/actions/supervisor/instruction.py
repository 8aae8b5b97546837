"""An instruction in words, carried out for its caller: a client's call, or a run of the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from acud.base.errors import AcudError, Refused
from acud.features.actions import instructions
from acud.features.actions.instructions import Instruction
from acud.features.actions.supervisor import instruction_verbs
from acud.features.actions.supervisor.instruction_run import InstructionContext, InstructionEnding, InstructionRun
from acud.protocol.requests.gui import DoReply, GuiDo
from acud.supervisor.ports import InstructionCaller
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Target, picture_views
from acud.types.tasks import ActionType
from acud.waits.targets import parse_target
from acud.waits.validation import check_until

if TYPE_CHECKING:
    from acud.features.actions.supervisor.feature import ActionsFeature


class InstructionPlace(NamedTuple):
    """Where an instruction is carried out, and for which task."""

    target: Target
    task_id: str


def place_of(feature: ActionsFeature, request: GuiDo, instruction: Instruction) -> InstructionPlace:
    """Return where `request` has `instruction` carried out. Raises: InvalidRequest, NotFound."""
    view = picture_views.parse(request.view) if request.view else None
    shown = view.display if view else feature.core.ports.elements.display_of(*instructions.places(instruction))
    named = request.display or ("" if request.task_id else shown)
    place = feature.core.ports.tasks.place(request.task_id, request.target, named)
    return InstructionPlace(parse_target(request.target, place.display), place.task_id)


class RunningInstruction:
    """One instruction on its way: its display, then its doing; its caller gets the answer, without a picture.

    Raises on making: InvalidRequest for an instruction, view or target that means nothing; NotFound for its task.
    """

    def __init__(
        self, feature: ActionsFeature, request: GuiDo, caller: InstructionCaller, context: InstructionContext
    ) -> None:
        self.feature = feature
        self.request = request
        self.caller = caller
        self.instruction = instructions.parse(request.instruction)
        if request.expect is not None:
            expect = feature.core.host_conditions.pin_to_now(check_until(request.expect))
            expect = feature.core.waits.keep_images(expect)
            self.request = request = replace(request, expect=expect)
        place = place_of(feature, request, self.instruction)
        self.run = InstructionRun(feature, request, caller, place.target, self.on_end, context)
        self.log = feature.core.ports.tasks.begin_action(
            place.task_id, ActionType.GUI, instructions.instruction_text(self.instruction)
        )

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
        """Answer."""
        if isinstance(ending, AcudError):
            self.log(ending, None)
            self.caller.fail(ending)
            return
        run = self.run
        said = "" if self.request.lease else self.feature.core.takeovers.take_note(run.watched)
        reply = DoReply(
            status=ending.status,
            display=run.watched.name,
            message="; ".join(part for part in (ending.message, said) if part),
            did=ending.did,
            found=run.found,
            target_found=run.target_found,
            verdict=ending.verdict,
            baseline=run.baseline,
            spent=run.spent,
            field=ending.field,
            effects=ending.effects,
        )
        points = {"points": run.pressed} if run.pressed else {}
        self.log(None, {"status": reply.status, "did": reply.did, "display": reply.display, **points})
        self.caller.reply(reply, kept=replace(reply, field=None, effects=None))
