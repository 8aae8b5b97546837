"""What each form of an instruction does, step by step, on a `InstructionRun`."""

from __future__ import annotations

from typing import Literal

from acud.features.actions.instructions import (
    ClickOn,
    DragTo,
    HoverOver,
    Instruction,
    PressKeys,
    ScrollBy,
    ScrollUntil,
    SelectIn,
    TypeInto,
    instruction_text,
)
from acud.features.actions.supervisor.instruction_run import InstructionEnding, InstructionRun, why
from acud.supervisor.waits.active_waits import ChangedShare
from acud.types import Verdict, yes
from acud.types.actions import Action, Button, Click, Direction, Drag, Key, Move, Point, Scroll, TypeText
from acud.types.grounding import Candidate, Found

_OPEN_S = 5.0
_OPEN_SETTLE_S = 0.15
"""A list that opens has faded in by then."""

_WHEEL = 5
_MOVES_S = 0.7
"""A scroll that moved nothing by then is at its end."""
_SCROLL_STEPS = 40
"""Of either direction; 200 clicks of a wheel."""
_SCROLL_S = 60.0
"""Altogether: reading the text of each view takes a second."""

_SILENT = ("button", "push button", "link", "tab", "menu", "menu item", "icon", "tool button", "page tab", "")
"""What lights up when it is clicked, whatever else happens: a change of its own pixels shows no effect."""

_LIST_MIN_H_PX = 80
"""A control as high as this shows its options; a lower one opens them."""


def follow(run: InstructionRun, instruction: Instruction) -> None:
    match instruction:
        case ClickOn():
            run.find(instruction.at, lambda found: _click(run, instruction, found))
        case HoverOver():
            run.find(instruction.at, lambda found: _hover(run, instruction, found))
        case TypeInto():
            _type(run, instruction)
        case SelectIn():
            _select(run, instruction)
        case ScrollUntil():
            ScrollSearch(run, instruction).look()
        case ScrollBy():
            _scroll(run, instruction)
        case DragTo():
            run.find(instruction.start, lambda start: _drag(run, instruction, start), verb="drag")
        case PressKeys():
            run.stand(lambda: run.act((Key(instruction.chord),), lambda: run.verify(instruction_text(instruction))))


def _click(run: InstructionRun, instruction: ClickOn | SelectIn, found: Candidate) -> None:
    button, count = (instruction.button, instruction.count) if isinstance(instruction, ClickOn) else (Button.LEFT, 1)
    beside = found.box if found.role in _SILENT else None
    run.approach(
        found.point,
        lambda: run.act(
            (Click(found.point, button, count),), lambda: run.verify(_did(instruction, found), beside=beside)
        ),
    )


def _hover(run: InstructionRun, instruction: HoverOver, found: Candidate) -> None:
    run.act((Move(found.point),), lambda: run.verify(_did(instruction, found)))


def _drag(run: InstructionRun, instruction: DragTo, start: Candidate) -> None:
    def both(to: Candidate) -> None:
        drag = Drag(to.point, start.point)
        run.approach(start.point, lambda: run.act((drag,), lambda: run.verify(_did(instruction, start))))

    run.find(instruction.to, both, verb="drop", to=True)


# ---- typing ----------------------------------------------------------------------------------------------------------


def _type(run: InstructionRun, instruction: TypeInto) -> None:
    keys: tuple[Action, ...] = (*((Key("ctrl+a"),) if instruction.replace else ()), TypeText(instruction.text))
    keys = (*keys, Key("Return")) if instruction.enter else keys
    if not instruction.at:
        run.stand(lambda: run.act(keys, lambda: run.verify(instruction_text(instruction))))
        return

    def focused(found: Candidate) -> None:
        run.baseline = ""  # the click itself draws a ring and a caret
        inside = None if instruction.enter else found.box
        run.act(keys, lambda: run.verify(_did(instruction, found), inside=inside))

    def place(found: Candidate) -> None:
        run.act((Click(found.point),), lambda: run.settle(lambda: focused(found)))

    run.find(instruction.at, place, verb="type")


# ---- choosing --------------------------------------------------------------------------------------------------------


def _select(run: InstructionRun, instruction: SelectIn) -> None:
    if not instruction.at:
        run.find(instruction.option, lambda found: _click(run, instruction, found), verb="select")
        return

    def place(found: Candidate) -> None:
        if found.box is not None and found.box.h >= _LIST_MIN_H_PX:
            inside = found.box
            run.find(instruction.option, lambda option: _pick(run, instruction, option), verb="select", place=inside)
        else:
            _open(run, instruction, found)

    run.find(instruction.at, place)


def _open(run: InstructionRun, instruction: SelectIn, found: Candidate) -> None:
    """Open what was found and choose in what appears: the list is where the display changed."""

    def opened(changed: ChangedShare) -> None:
        if changed.box is None:
            run.end(
                InstructionEnding(
                    "unverified",
                    f"{instruction_text(instruction)}: it was clicked and nothing opened",
                    instruction_text(instruction),
                )
            )
            return
        run.find(
            instruction.option,
            lambda option: _pick(run, instruction, option),
            verb="select",
            place=changed.box,
            missing=lambda missing: _close(run, instruction, missing),
        )

    def clicked() -> None:
        run.changed(opened, _OPEN_S, _OPEN_SETTLE_S)

    run.approach(found.point, lambda: run.act((Click(found.point),), clicked))


def _pick(run: InstructionRun, instruction: SelectIn, option: Candidate) -> None:
    run.baseline = ""
    run.restless = False
    run.act((Click(option.point),), lambda: run.verify(_did(instruction, option)))


def _close(run: InstructionRun, instruction: SelectIn, missing: Found) -> None:
    """Leave the list as it was, and say so."""
    assert missing.status != "found"
    ending = InstructionEnding(
        missing.status, f"the list was opened and closed again: {why(missing, instruction.option)}"
    )
    run.act((Key("Escape"),), lambda: run.end(ending))


# ---- scrolling -------------------------------------------------------------------------------------------------------


def _scroll(run: InstructionRun, instruction: ScrollBy) -> None:
    def at(point: Point) -> None:
        turn = Scroll(instruction.direction, instruction.amount, point)
        run.approach(point, lambda: run.act((turn,), lambda: run.verify(instruction_text(instruction))))

    if instruction.at:
        run.find(instruction.at, lambda found: at(found.point))
    else:
        at(run.middle())


class ScrollSearch:
    """Scroll and look, down to the end and then up to the other, until it is there."""

    def __init__(self, run: InstructionRun, instruction: ScrollUntil) -> None:
        self._run = run
        self._instruction = instruction
        self._direction = Direction.DOWN
        self._steps = 0
        self._turned = 0
        self._until_s = run.feature.core.clock.monotonic_s() + _SCROLL_S

    def look(self) -> None:
        """Search what is in view now."""
        self._run.find(self._instruction.to, self._there, missing=self._missing)

    def _there(self, found: Candidate) -> None:
        seen = yes(f"in view at {found.point.x},{found.point.y} after {self._turned} turns of the wheel")
        self._finish("verified", f"{instruction_text(self._instruction)}: {seen.detail}", seen)

    def _finish(
        self, status: Literal["verified", "not_found", "unknown"], message: str, verdict: Verdict | None = None
    ) -> None:
        self._run.end(InstructionEnding(status, message, instruction_text(self._instruction), verdict))

    def _missing(self, found: Found) -> None:
        if found.status != "not_found" and not _is_doubt(found):
            self._run.give_up(found, self._instruction.to)
            return
        if self._run.feature.core.clock.monotonic_s() > self._until_s:
            self._finish(
                "unknown", f"{instruction_text(self._instruction)}: not met within {_SCROLL_S:.0f} s of scrolling"
            )
            return
        if self._steps >= _SCROLL_STEPS:
            self._turn_back(found)
            return
        self._steps += 1
        self._turned += 1
        self._run.baseline = ""
        point = self._run.middle()
        turn = Scroll(self._direction, _WHEEL, point)
        self._run.act((turn,), lambda: self._run.changed(lambda changed: self._moved(changed, found), _MOVES_S, 0.1))

    def _moved(self, changed: ChangedShare, found: Found) -> None:
        if changed.box is not None:
            self.look()
        else:
            self._turn_back(found)

    def _turn_back(self, found: Found) -> None:
        if self._direction is Direction.UP:
            message = f"{instruction_text(self._instruction)}: scrolled to both ends: {found.reason}"
            self._finish("not_found", message)
            return
        self._direction, self._steps = Direction.UP, 0
        self._missing(found)


def _is_doubt(found: Found) -> bool:
    """Tell whether things came near and none fits: what is meant may be further down ("Entry 33" is not "Entry 3")."""
    return found.status == "ambiguous" and all(one.outcome != "ambiguous" for one in found.tried)


def _did(instruction: Instruction, found: Candidate) -> str:
    return f"{instruction_text(instruction)} at {found.point.x},{found.point.y} (found by {found.method.value})"
