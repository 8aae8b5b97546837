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
from acud.features.actions.supervisor import list_choice, text_entry
from acud.features.actions.supervisor.effect_watch import conclude, verify
from acud.features.actions.supervisor.instruction_run import InstructionEnding, InstructionRun, did_text
from acud.features.actions.supervisor.scroll_search import ScrollSearch, scroll
from acud.types import no, yes
from acud.types.actions import Click, Drag, Key, Move
from acud.types.grounding import Candidate

_SILENT = ("button", "push button", "link", "tab", "menu", "menu item", "icon", "tool button", "page tab", "")
"""What lights up when it is clicked, whatever else happens: a change of its own pixels shows no effect."""


_CARET_KEYS = frozenset({"home", "end", "left", "right", "up", "down", "kp_home", "kp_end"})


def follow(run: InstructionRun, instruction: Instruction) -> None:
    """Begin `instruction`."""
    match instruction:
        case ClickOn():
            run.find(instruction.at, lambda found: _click(run, instruction, found))
        case TickBox():
            run.find(instruction.at, lambda found: _tick(run, instruction, found), verb="tick")
        case HoverOver():
            run.find(instruction.at, lambda found: _hover(run, instruction, found), may_be_disabled=True)
        case TypeInto():
            text_entry.begin(run, instruction)
        case SelectIn():
            list_choice.begin(run, instruction)
        case ScrollUntil():
            ScrollSearch(run, instruction).begin()
        case ScrollBy():
            scroll(run, instruction)
        case DragTo():
            run.find(instruction.start, lambda start: _drag(run, instruction, start), verb="drag")
        case PressKeys():
            _press(run, instruction)


def _click(run: InstructionRun, instruction: ClickOn, found: Candidate) -> None:
    did, beside = did_text(instruction, found), found.box if found.role in _SILENT else None
    click = Click(found.point, instruction.button, instruction.count)

    def clicked() -> None:
        verify(run, did, (found.point,), beside=beside)

    run.prepare((found.point,), lambda: run.approach(found.point, lambda: run.act((click,), clicked)))


def _tick(run: InstructionRun, instruction: TickBox, found: Candidate) -> None:
    did, word = did_text(instruction, found), "ticked" if instruction.is_on else "not ticked"

    def clicked() -> None:
        if run.request.expect is not None or run.request.timeout_s <= 0:
            verify(run, did, (found.point,))
        else:
            run.settle(look)

    def look() -> None:
        run.find(instruction.at, seen, verb="tick", missing=lambda _: verify(run, did, (found.point,)))

    def seen(now: Candidate) -> None:
        if now.checked == instruction.is_on:
            conclude(run, did, yes(f"it is {word} now"))
        elif run.core.clock.monotonic_s() >= until_s:
            conclude(run, did, no(f"it is not {word}"))
        else:
            run.settle(look)

    until_s = run.core.clock.monotonic_s() + run.request.timeout_s
    if found.checked is None:
        words = "nothing was done: whether it is ticked cannot be seen; click … clicks it in any case"
        run.end(InstructionEnding("unknown", words))
    elif found.checked == instruction.is_on:
        run.end(InstructionEnding("verified", f"nothing had to be done: it is {word}", verdict=yes(f"it is {word}")))
    else:
        click = (Click(found.point),)
        run.prepare((found.point,), lambda: run.approach(found.point, lambda: run.act(click, clicked)))


def _hover(run: InstructionRun, instruction: HoverOver, found: Candidate) -> None:
    def moved() -> None:
        verify(run, did_text(instruction, found), (found.point,))

    run.prepare((found.point,), lambda: run.act((Move(found.point),), moved))


def _drag(run: InstructionRun, instruction: DragTo, start: Candidate) -> None:
    def both(to: Candidate) -> None:
        points = (start.point, to.point)

        def dragged() -> None:
            verify(run, did_text(instruction, start), points)

        drag = Drag(to.point, start.point)
        run.prepare(points, lambda: run.approach(start.point, lambda: run.act((drag,), dragged)))

    run.find(instruction.to, both, verb="drop", to=True)


def _press(run: InstructionRun, instruction: PressKeys) -> None:
    def pressed() -> None:
        verify(run, instruction_text(instruction), moves_caret=_moves_caret(instruction.chord))

    run.prepare((), lambda: run.stand(lambda: run.act((Key(instruction.chord),), pressed)))


def _moves_caret(chord: str) -> bool:
    """Tell whether all that the keys can do in a field is to move its caret."""
    return all(keys.rpartition("+")[2].lower() in _CARET_KEYS for keys in chord.split())
