"""What each form of an instruction does on an `InstructionRun`: those that click, drag and press keys, step by step."""

from __future__ import annotations

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
from acud.features.actions.supervisor.effect_watch import conclude, verify
from acud.features.actions.supervisor.instruction_run import InstructionEnding, InstructionRun, did_text
from acud.features.actions.supervisor.list_choice import choose
from acud.features.actions.supervisor.scroll_search import ScrollSearch, scroll_by
from acud.features.actions.supervisor.text_entry import type_into
from acud.types import no, yes
from acud.types.actions import Click, Drag, Key, Move

_SILENT = ("button", "push button", "link", "tab", "menu", "menu item", "icon", "tool button", "page tab", "")
"""What lights up when it is clicked, whatever else happens: a change of its own pixels shows no effect."""


_CARET_KEYS = frozenset({"home", "end", "left", "right", "up", "down", "kp_home", "kp_end"})


async def follow(run: InstructionRun, instruction: Instruction) -> InstructionEnding:
    """Carry out `instruction`. Raises: InstructionOver where it ends early."""
    match instruction:
        case ClickOn():
            return await _click(run, instruction)
        case TickBox():
            return await _tick(run, instruction)
        case HoverOver():
            return await _hover(run, instruction)
        case TypeInto():
            return await type_into(run, instruction)
        case SelectIn():
            return await choose(run, instruction)
        case ScrollUntil():
            return await ScrollSearch(run, instruction).scroll()
        case ScrollBy():
            return await scroll_by(run, instruction)
        case DragTo():
            return await _drag(run, instruction)
        case PressKeys():
            return await _press(run, instruction)


async def _click(run: InstructionRun, instruction: ClickOn) -> InstructionEnding:
    found = await run.find(instruction.at)
    await run.prepare(found.point)
    await run.approach(found.point)
    await run.act(Click(found.point, instruction.button, instruction.count))
    beside = found.box if found.role in _SILENT else None
    return await verify(run, did_text(instruction, found), found.point, beside=beside)


async def _tick(run: InstructionRun, instruction: TickBox) -> InstructionEnding:
    found, word = await run.find(instruction.at, verb="tick"), "ticked" if instruction.is_on else "not ticked"
    if found.checked is None:
        words = "nothing was done: whether it is ticked cannot be seen; click … clicks it in any case"
        return InstructionEnding("unknown", words)
    if found.checked == instruction.is_on:
        return InstructionEnding("verified", f"nothing had to be done: it is {word}", verdict=yes(f"it is {word}"))
    did, until_s = did_text(instruction, found), run.now_s() + run.request.timeout_s
    await run.prepare(found.point)
    await run.approach(found.point)
    await run.act(Click(found.point))
    if run.request.expect is not None or run.request.timeout_s <= 0:
        return await verify(run, did, found.point)
    while True:
        await run.settle()
        now = await run.search(instruction.at, verb="tick")
        if now.status != "found":
            return await verify(run, did, found.point)
        if now.candidates[0].checked == instruction.is_on:
            return await conclude(run, did, yes(f"it is {word} now"))
        if run.now_s() >= until_s:
            return await conclude(run, did, no(f"it is not {word}"))


async def _hover(run: InstructionRun, instruction: HoverOver) -> InstructionEnding:
    found = await run.find(instruction.at, may_be_disabled=True)
    await run.prepare(found.point)
    await run.act(Move(found.point))
    return await verify(run, did_text(instruction, found), found.point)


async def _drag(run: InstructionRun, instruction: DragTo) -> InstructionEnding:
    start = await run.find(instruction.start, verb="drag")
    to = await run.find(instruction.to, verb="drop", to=True)
    await run.prepare(start.point, to.point)
    await run.approach(start.point)
    await run.act(Drag(to.point, start.point))
    return await verify(run, did_text(instruction, start), start.point, to.point)


async def _press(run: InstructionRun, instruction: PressKeys) -> InstructionEnding:
    await run.prepare()
    await run.stand()
    await run.act(Key(instruction.chord))
    return await verify(run, instruction_text(instruction), moves_caret=_moves_caret(instruction.chord))


def _moves_caret(chord: str) -> bool:
    """Return whether all that the keys can do in a field is to move its caret."""
    return all(keys.rpartition("+")[2].lower() in _CARET_KEYS for keys in chord.split())
