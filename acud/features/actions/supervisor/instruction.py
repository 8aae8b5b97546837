"""An instruction in words, carried out for its caller: a client's call, or a run of the agent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from acud.base.errors import AcudError, Refused
from acud.features.actions import instructions
from acud.features.actions.instructions import (
    ClickOn,
    DragTo,
    HoverOver,
    Instruction,
    PressKeys,
    ScrollBy,
    ScrollUntil,
    SelectIn,
    TickBox,
    TypeInto,
    instruction_text,
)
from acud.features.actions.supervisor.display_steps import DisplaySteps
from acud.features.actions.supervisor.effect_watch import conclude, verify
from acud.features.actions.supervisor.instruction_run import (
    InstructionContext,
    InstructionEnding,
    InstructionOver,
    InstructionRun,
    did_text,
)
from acud.features.actions.supervisor.list_choice import choose
from acud.features.actions.supervisor.scroll_search import ScrollSearch, scroll_by
from acud.features.actions.supervisor.text_entry import type_into
from acud.protocol.requests.gui import DoReply, GuiDo
from acud.supervisor.coroutines import StepTask
from acud.supervisor.ports import InstructionCaller
from acud.types import Target, no, picture_views, yes
from acud.types.actions import Click, Drag, Key, Move
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
    place = steps.core.ports.tasks.find_place(request.task_id, request.target, named)
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
            ending = await _follow(run, self._instruction)
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
    task = StepTask(running.carry_out(), caller.later, partial(_send_reply, caller))
    task.begin()
    return partial(_give_up, task, running)


def _send_reply(caller: InstructionCaller, outcome: DoReply | AcudError) -> None:
    if isinstance(outcome, AcudError):
        caller.fail(outcome)
    else:
        caller.reply(outcome, stored_body=replace(outcome, field=None, effects=None))


def _give_up(task: StepTask[DoReply], running: RunningInstruction, reason: str) -> None:
    task.cancel()
    running.log(Refused(reason), None)


_SILENT = ("button", "push button", "link", "tab", "menu", "menu item", "icon", "tool button", "page tab", "")
"""What lights up when it is clicked, whatever else happens: a change of its own pixels shows no effect."""
_CARET_KEYS = frozenset({"home", "end", "left", "right", "up", "down", "kp_home", "kp_end"})


async def _follow(run: InstructionRun, instruction: Instruction) -> InstructionEnding:
    """Carry out `instruction`. Raises: InstructionOver where it ends early."""
    match instruction:
        case ClickOn():
            return await _click_on(run, instruction)
        case TickBox():
            return await _tick_box(run, instruction)
        case HoverOver():
            return await _hover_over(run, instruction)
        case TypeInto():
            return await type_into(run, instruction)
        case SelectIn():
            return await choose(run, instruction)
        case ScrollUntil():
            return await ScrollSearch(run, instruction).scroll()
        case ScrollBy():
            return await scroll_by(run, instruction)
        case DragTo():
            return await _drag_to(run, instruction)
        case PressKeys():
            return await _press_keys(run, instruction)


async def _click_on(run: InstructionRun, instruction: ClickOn) -> InstructionEnding:
    found = await run.find(instruction.at)
    await run.record_before(found.point)
    await run.approach(found.point)
    await run.act(Click(found.point, instruction.button, instruction.count))
    beside = found.box if found.role in _SILENT else None
    return await verify(run, did_text(instruction, found), found.point, beside=beside)


async def _tick_box(run: InstructionRun, instruction: TickBox) -> InstructionEnding:
    found, word = await run.find(instruction.at, verb="tick"), "ticked" if instruction.is_on else "not ticked"
    if found.checked is None:
        words = "nothing was done: whether it is ticked cannot be seen; click … clicks it in any case"
        return InstructionEnding("unknown", words)
    if found.checked == instruction.is_on:
        return InstructionEnding("verified", f"nothing had to be done: it is {word}", verdict=yes(f"it is {word}"))
    did, until_s = did_text(instruction, found), run.now_s() + run.request.timeout_s
    await run.record_before(found.point)
    await run.approach(found.point)
    await run.act(Click(found.point))
    if run.request.expect is not None or run.request.timeout_s <= 0:
        return await verify(run, did, found.point)
    while True:
        await run.await_stillness()
        now = await run.search(instruction.at, verb="tick")
        if now.status != "found":
            return await verify(run, did, found.point)
        if now.candidates[0].checked == instruction.is_on:
            return await conclude(run, did, yes(f"it is {word} now"))
        if run.now_s() >= until_s:
            return await conclude(run, did, no(f"it is not {word}"))


async def _hover_over(run: InstructionRun, instruction: HoverOver) -> InstructionEnding:
    found = await run.find(instruction.at, may_be_disabled=True)
    await run.record_before(found.point)
    await run.act(Move(found.point))
    return await verify(run, did_text(instruction, found), found.point)


async def _drag_to(run: InstructionRun, instruction: DragTo) -> InstructionEnding:
    start = await run.find(instruction.start, verb="drag")
    to = await run.find(instruction.to, verb="drop", to=True)
    await run.record_before(start.point, to.point)
    await run.approach(start.point)
    await run.act(Drag(to.point, start.point))
    return await verify(run, did_text(instruction, start), start.point, to.point)


async def _press_keys(run: InstructionRun, instruction: PressKeys) -> InstructionEnding:
    await run.record_before()
    await run.let_movement_pass()
    await run.act(Key(instruction.chord))
    return await verify(run, instruction_text(instruction), moves_caret=_moves_caret(instruction.chord))


def _moves_caret(chord: str) -> bool:
    """Return whether all that the keys can do in a field is to move its caret."""
    return all(keys.rpartition("+")[2].lower() in _CARET_KEYS for keys in chord.split())
