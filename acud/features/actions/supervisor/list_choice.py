"""Choosing in a list, a combo box or a menu: open it, find the option in what opened, click it, read back the choice.

An option is looked for in the list's own popup alone, and scrolled to there; a click never lands beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from acud.base.quotation_marks import unquote
from acud.features.actions.field_text import chosen
from acud.features.actions.instructions import SelectIn, instruction_text
from acud.features.actions.supervisor.effect_watch import conclude, finish, verify
from acud.features.actions.supervisor.instruction_run import InstructionEnding, InstructionRun, did_text, why
from acud.features.actions.supervisor.scroll_search import WheelSearch, is_out_of_view
from acud.features.actions.widget_effects import toggled
from acud.features.actions.window_effects import EffectArea
from acud.protocol.observation import Observed, Scrollable
from acud.supervisor.waits.active_waits import ActiveWait, ChangedShare
from acud.types import Answer, JudgeName, Rect, Text, WaitSpec, WindowInfo, no, unknown, yes
from acud.types.action_effects import FieldReading
from acud.types.actions import Click, Key, Point
from acud.types.grounding import Candidate, Found

_OPEN_S = 5.0
"""A list may take so long to open."""
_OPEN_SETTLE_S = 0.15
"""A list that opens has faded in by then."""
_POLL_S = 0.05
_LIST_MIN_H_PX = 80
"""A control as high as this shows its options; a lower one opens them."""
_CLOSES_S = 1.5
"""A list may stay open so long after a choice, or longer where the request's `timeout_s` says so."""
_SCROLL_S = 30.0
_MENUS = ("menu", "menu item", "menu bar", "push button", "button", "toggle button", "link", "")
"""What opens a menu, and shows nothing afterwards of what was chosen in it."""


def begin(run: InstructionRun, instruction: SelectIn) -> None:
    """Choose `option` in what `at` describes, or among what is on the screen."""
    if instruction.at:
        run.find(instruction.at, lambda found: _at(run, instruction, found), verb="choose")
    else:
        run.find(instruction.option, lambda found: _listed(run, instruction, found), verb="select")


def _at(run: InstructionRun, instruction: SelectIn, found: Candidate) -> None:
    if found.box is not None and found.box.h >= _LIST_MIN_H_PX:
        _InList(run, instruction, found, found.box).begin()
    else:
        _InPopup(run, instruction, found).begin()


# ---- a list that shows its options -----------------------------------------------------------------------------------


class _InList:
    def __init__(self, run: InstructionRun, instruction: SelectIn, found: Candidate, box: Rect) -> None:
        self._run = run
        self._instruction = instruction
        self._found = found
        self._box = box

    def begin(self) -> None:
        self._look(self._scroll)

    def _look(self, missing: Callable[[Found], None]) -> None:
        self._run.find(
            self._instruction.option,
            lambda option: _listed(self._run, self._instruction, option),
            verb="select",
            place=self._box,
            missing=missing,
        )

    def _scroll(self, found: Found) -> None:
        if not is_out_of_view(found):
            self._run.give_up(found, self._instruction.option)
            return
        place = Scrollable(self._box, self._found.point)
        until_s = self._run.core.clock.monotonic_s() + _SCROLL_S
        wheel = WheelSearch(self._run, place, until_s, self._look, self._missing)
        self._run.prepare((self._found.point,), lambda: wheel.turn(found))

    def _missing(self, found: Found, is_late: bool) -> None:
        is_unknown = is_late or found.status == "unknown"
        status: Literal["unknown", "not_found"] = "unknown" if is_unknown else "not_found"
        words = f"it was scrolled to both ends: {why(found, self._instruction.option)}"
        self._run.end(InstructionEnding(status, f"nothing was chosen: {words}"))


def _listed(run: InstructionRun, instruction: SelectIn, option: Candidate) -> None:
    """Click an option that shows, and see whether it is selected."""
    did = did_text(instruction, option)

    def settled(now: Observed) -> None:
        told = toggled(run.before.at, now.at)
        reads = now.choice.reads if now.choice is not None else ()
        if run.request.expect is None and chosen(unquote(instruction.option), reads):
            _read_back(run, did, "the list has it selected")
        elif run.request.expect is None and told:
            conclude(run, did, yes(told))
        else:
            verify(run, did, (option.point,))

    def clicked() -> None:
        run.settle(lambda: run.observe(settled, point=option.point))

    run.prepare((option.point,), lambda: run.approach(option.point, lambda: run.act((Click(option.point),), clicked)))


def _read_back(run: InstructionRun, did: str, detail: str, method: str = "accessibility") -> None:
    reading = FieldReading("as_wanted", method="ocr" if method == "ocr" else "accessibility")
    words = f"{did}: done, and read back: {detail}"
    finish(run, InstructionEnding("verified", words, did, yes(detail), reading))


# ---- a list that opens -----------------------------------------------------------------------------------------------


class _InPopup:
    """Opens what was found, chooses in what appears, and reads what it shows then."""

    def __init__(self, run: InstructionRun, instruction: SelectIn, found: Candidate) -> None:
        self._run = run
        self._instruction = instruction
        self._found = found
        self._box = Rect(0, 0, 0, 0)
        self._popup = 0
        self._until_s = 0.0
        self._did = instruction_text(instruction)

    def begin(self) -> None:
        run, point = self._run, self._found.point
        opening = (Click(point),)
        run.prepare((point,), lambda: run.approach(point, lambda: run.act(opening, self._clicked)))

    # ---- open ------------------------------------------------------------------------------------------------------

    def _clicked(self) -> None:
        self._until_s = self._run.core.clock.monotonic_s() + _OPEN_S
        self._when_changed(self._opened)

    def _when_changed(self, then: Callable[[ChangedShare], None]) -> None:
        left_s = max(0.0, self._until_s - self._run.core.clock.monotonic_s())
        self._run.changed(then, left_s, _OPEN_SETTLE_S, area=EffectArea(self._run.screen))

    def _new_popup(self) -> WindowInfo | None:
        return next((one for one in self._run.new_windows() if one.kind == "popup"), None)

    def _opened(self, changed: ChangedShare) -> None:
        """The list is its own window, where the toolkit makes one; else it is where the display changed."""
        popup = self._new_popup()
        box = popup.bounds.intersect(self._run.screen) if popup is not None else changed.box
        if box is None:
            words = f"{self._did}: it was clicked and nothing opened"
            finish(self._run, InstructionEnding("unverified", words, self._did, no("nothing opened")))
            return
        self._box, self._popup = box, popup.window_id if popup is not None else 0
        self._look(self._scroll)

    def _look(self, missing: Callable[[Found], None]) -> None:
        self._run.find(self._instruction.option, self._pick, verb="select", place=self._box, missing=missing)

    def _scroll(self, found: Found) -> None:
        """The option may be further down a list that is longer than what shows of it, or the list still to come."""
        if not self._popup and self._run.core.clock.monotonic_s() < self._until_s:
            self._await_list(found)
            return
        if not self._popup or not is_out_of_view(found):
            self._close(found, False)
            return
        box = self._box
        place = Scrollable(box, Point(box.x + box.w // 2, box.y + box.h // 2))
        until_s = self._run.core.clock.monotonic_s() + _SCROLL_S
        WheelSearch(self._run, place, until_s, self._look, self._close).turn(found)

    def _await_list(self, found: Found) -> None:
        """Look again where more has changed: until now that may have been the look of the control alone."""

        def opened(changed: ChangedShare) -> None:
            if self._new_popup() is None and changed.box == self._box:
                self._scroll(found)
            else:
                self._opened(changed)

        again = self._run.later(lambda _: self._when_changed(opened))
        self._run.core.loop.call_later(_POLL_S, lambda: again(None))

    def _close(self, found: Found, is_late: bool) -> None:
        """Leave the list as it was, and say so."""
        assert found.status != "found"
        late = "; the time was over" if is_late else ""
        words = f"the list was opened and closed again: {why(found, self._instruction.option)}{late}"
        status = "unknown" if is_late else found.status
        self._run.act((Key("Escape"),), lambda: self._run.end(InstructionEnding(status, words)))

    # ---- choose ----------------------------------------------------------------------------------------------------

    def _pick(self, option: Candidate) -> None:
        run, point = self._run, option.point
        self._did = did_text(self._instruction, option)
        if not self._box.holds(point.x, point.y):
            beside = Found("not_found", reason=f"{point.x},{point.y} lies beside the list")
            self._close(beside, False)
            return
        run.baseline, run.moving = "", ()
        run.act((Click(point),), self._picked)

    def _picked(self) -> None:
        self._until_s = self._run.core.clock.monotonic_s() + max(_CLOSES_S, self._run.request.timeout_s)
        if self._popup:
            self._closed()
        else:
            self._run.settle(self._read)

    def _closed(self) -> None:
        """Wait until the list is gone; one that stays is told of."""
        run = self._run
        if any(one.window_id == self._popup for one in run.watched.windows):
            if run.core.clock.monotonic_s() < self._until_s:
                again = run.later(lambda _: self._closed())
                run.core.loop.call_later(_POLL_S, lambda: again(None))
                return
            self._end_unread("the list stays open")
            return
        run.settle(self._read)

    def _read(self) -> None:
        """See what was expected, or what the list shows now."""
        if self._run.request.expect is not None:
            verify(self._run, self._did, (self._found.point,))
        elif self._run.request.timeout_s <= 0:
            conclude(self._run, self._did, unknown("not_judged", "no time was given to see an effect"))
        else:
            self._run.observe(self._reads, point=self._found.point)

    def _reads(self, now: Observed) -> None:
        run, option = self._run, unquote(self._instruction.option)
        choice = now.choice if now.choice is not None and now.choice.role == "combo box" else None
        reads = choice.reads if choice is not None else ()
        if chosen(option, reads):
            _read_back(run, self._did, "the list reads what was chosen")
        elif choice is not None and len([one for one in reads if one != choice.name]) > 0:
            reading = FieldReading("different", choice.quoted, method="accessibility")
            words = f"{self._did}: done; not as it should be: the list reads something else"
            finish(run, InstructionEnding("unverified", words, self._did, no("it reads something else"), reading))
        elif self._found.role in _MENUS and choice is None:
            verify(run, self._did, (self._found.point,))
        else:
            self._recognise(option, now.unread)

    def _recognise(self, option: str, reason: str) -> None:
        """Read the pixels of a list that does not tell what is chosen; a program may show that late."""
        run, box = self._run, self._found.box
        inside = box.intersect(run.screen) if box is not None else None
        if inside is None:
            verify(run, self._did, (self._found.point,))
            return
        left_s = max(0.0, self._until_s - run.core.clock.monotonic_s())
        spec = WaitSpec(Text(option), run.seen_in(EffectArea(inside)), left_s, judge=JudgeName.OCR)

        def read(active: ActiveWait) -> None:
            verdict = active.machine.verdict
            if verdict.answer is Answer.YES:
                _read_back(run, self._did, "what was chosen can be read in it (OCR)", "ocr")
            elif verdict.answer is Answer.UNKNOWN:
                self._end_unread(verdict.detail)
            else:
                told = f"{reason}; " if reason else ""
                self._end_unread(f"{told}OCR does not read in it what was chosen")

        run.core.waits.run_transient(spec, run.watched, run.later(read), reads_back=True)

    def _end_unread(self, reason: str) -> None:
        words = f"{self._did}: done; it cannot be read back: {reason}"
        reading = FieldReading("unreadable", reason=reason)
        ending = InstructionEnding("unverified", words, self._did, unknown("engine", reason), reading)
        finish(self._run, ending)
