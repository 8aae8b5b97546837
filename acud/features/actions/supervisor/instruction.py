"""An instruction in words, carried out for its caller: a client's call, or a run of the agent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from acud.base.errors import AcudError, Refused
from acud.features.actions import instructions
from acud.features.actions.instructions import Instruction
from acud.features.actions.supervisor.display_steps import DisplaySteps
from acud.features.actions.supervisor.instruction_run import InstructionContext, InstructionOver, InstructionRun
from acud.features.actions.supervisor.instruction_verbs import follow
from acud.protocol.requests.gui import DoReply, GuiDo
from acud.supervisor.coroutines import StepTask
from acud.supervisor.ports import InstructionCaller
from acud.types import Target, picture_views
from acud.types.tasks import ActionType
from acud.waits.targets import parse_target
from acud.waits.validation import check_until


class InstructionPlace(NamedTuple):
    """Where an instruction is carried out, and for which task."""

    target: Target
    task_id: str


def place_of(steps: DisplaySteps, request: GuiDo, instruction: Instruction) -> InstructionPlace:
    """Return where `request` has `instruction` carried out. Raises: InvalidRequest, NotFound."""
    view = picture_views.parse(request.view) if request.view else None
    shown = view.display if view else steps.core.ports.elements.display_of(*instructions.places(instruction))
    named = request.display or ("" if request.task_id else shown)
    place = steps.core.ports.tasks.place(request.task_id, request.target, named)
    return InstructionPlace(parse_target(request.target, place.display), place.task_id)


class RunningInstruction:
    """One instruction on its way, without a picture.

    Raises on making: InvalidRequest for an instruction, view or target that means nothing; NotFound for its task.
    """

    def __init__(
        self, steps: DisplaySteps, request: GuiDo, caller: InstructionCaller, context: InstructionContext
    ) -> None:
        core = steps.core
        self._core = core
        self._instruction = instructions.parse(request.instruction)
        if request.expect is not None:
            expect = core.waits.keep_images(core.host_conditions.pin_to_now(check_until(request.expect)))
            request = replace(request, expect=expect)
        place = place_of(steps, request, self._instruction)
        self.run = InstructionRun(steps, request, caller, place.target, context)
        self.log = core.ports.tasks.begin_action(
            place.task_id, ActionType.GUI, instructions.instruction_text(self._instruction)
        )

    async def carry_out(self) -> DoReply:
        """Find the display, follow the instruction, and return the answer. Raises: AcudError."""
        run = self.run
        try:
            run.watched = await self._core.displays.find_display(run.target.display)
            run.target = replace(run.target, display=run.watched.name)
            self._core.takeovers.check(run.watched, run.request.lease)
            await run.hold_window()
            ending = await follow(run, self._instruction)
        except InstructionOver as over:
            ending = over.ending
        except AcudError as fault:
            self.log(fault, None)
            raise
        note = "" if run.request.lease else self._core.takeovers.take_note(run.watched)
        reply = DoReply(
            status=ending.status,
            display=run.watched.name,
            message="; ".join(part for part in (ending.message, note) if part),
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
        return reply


def begin_instruction(steps: DisplaySteps, request: GuiDo, caller: InstructionCaller) -> Callable[[str], None]:
    """Begin `request` for `caller`; return what gives it up for a reason: what was sent to the display is done.

    Raises: as RunningInstruction.
    """
    running = RunningInstruction(steps, request, caller, InstructionContext())
    task = StepTask(running.carry_out(), caller.later, partial(_answer, caller))
    task.begin()
    return partial(_give_up, task, running)


def _answer(caller: InstructionCaller, outcome: DoReply | AcudError) -> None:
    if isinstance(outcome, AcudError):
        caller.fail(outcome)
    else:
        caller.reply(outcome, stored_body=replace(outcome, field=None, effects=None))


def _give_up(task: StepTask[DoReply], running: RunningInstruction, reason: str) -> None:
    task.cancel()
    running.log(Refused(reason), None)
