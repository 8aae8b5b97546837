"""Choosing in a list, a combo box or a menu: open it, find the option in what opened, click it, read back the choice.

An option is looked for in the list's own popup alone, and scrolled to there; a click never lands beside it.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Literal

from acud.features.actions.field_text import is_chosen
from acud.features.actions.instructions import SelectIn, instruction_text
from acud.features.actions.supervisor.effect_watch import add_effects, conclude, verify
from acud.features.actions.supervisor.instruction_run import InstructionEnding, InstructionRun, did_text, explain_search
from acud.features.actions.supervisor.scroll_search import WheelSearch, is_out_of_view
from acud.features.actions.widget_effects import describe_toggle
from acud.features.actions.window_effects import EffectArea
from acud.language.quotation_marks import unquote
from acud.protocol.observation import Observed, Scrollable
from acud.supervisor.coroutines import Steps, sleep
from acud.types import Answer, JudgeName, Rect, Text, WaitSpec, no, unknown, yes
from acud.types.action_effects import FieldReading
from acud.types.actions import Click, Key, Point
from acud.types.grounding import Candidate, Found

_OPEN_S = 5.0
"""A list may take so long to open."""
_FREE_LOOKS = 3
"""So many looks at what opens do not count for that time."""
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


async def choose(run: InstructionRun, instruction: SelectIn) -> InstructionEnding:
    """Choose `option` in what `at` describes, or among what is on the screen."""
    if not instruction.at:
        return await _select_option(run, instruction, await run.find(instruction.option, verb="select"))
    found = await run.find(instruction.at, verb="choose")
    if found.box is not None and found.box.h >= _LIST_MIN_H_PX:
        return await _choose_in_list(run, instruction, found, found.box)
    return await _PopupChoice(run, instruction, found).choose()


async def _choose_in_list(
    run: InstructionRun, instruction: SelectIn, control: Candidate, box: Rect
) -> InstructionEnding:
    """Click the option in the list's `box`, scrolled to where it is further down."""
    look = partial(run.search, instruction.option, verb="select", place=box)
    found = await look()
    if found.status != "found":
        if not is_out_of_view(found):
            run.give_up(found, instruction.option)
        await run.record_before(control.point)
        wheel = WheelSearch(run, Scrollable(box, control.point), run.now_s() + _SCROLL_S)
        found = await wheel.search(found, look)
        if found.status != "found":
            is_unknown = wheel.is_late or found.status == "unknown"
            words = f"nothing was chosen: it was scrolled to both ends: {explain_search(found, instruction.option)}"
            return InstructionEnding("unknown" if is_unknown else "not_found", words)
    return await _select_option(run, instruction, found.candidates[0])


async def _select_option(run: InstructionRun, instruction: SelectIn, option: Candidate) -> InstructionEnding:
    did = did_text(instruction, option)
    await run.record_before(option.point)
    await run.approach(option.point)
    await run.act(Click(option.point))
    await run.await_stillness()
    now = await run.observe(point=option.point)
    effect = describe_toggle(run.before.at, now.at)
    reads = now.choice.reads if now.choice is not None else ()
    if run.request.expect is None and is_chosen(unquote(instruction.option), reads):
        return await _end_verified(run, did, "the list has it selected")
    if run.request.expect is None and effect:
        return await conclude(run, did, yes(effect))
    return await verify(run, did, option.point)


async def _end_verified(
    run: InstructionRun, did: str, detail: str, method: Literal["accessibility", "ocr"] = "accessibility"
) -> InstructionEnding:
    words = f"{did}: done, and read back: {detail}"
    reading = FieldReading("as_wanted", method=method)
    return await add_effects(run, InstructionEnding("verified", words, did, yes(detail), reading))


class _PopupChoice:
    """Opens `control`, chooses in what appears, and reads what it shows then."""

    def __init__(self, run: InstructionRun, instruction: SelectIn, control: Candidate) -> None:
        self._run = run
        self._instruction = instruction
        self._control = control
        self._box = Rect(0, 0, 0, 0)
        self._popup = 0
        self._until_s = 0.0
        self._did = instruction_text(instruction)

    async def choose(self) -> InstructionEnding:
        """Open the list, click the option and read back the choice."""
        run, point = self._run, self._control.point
        await run.record_before(point)
        await run.approach(point)
        await run.act(Click(point))
        self._until_s = run.now_s() + _OPEN_S
        found = await self._open_list()
        if found is None:
            words = f"{self._did}: it was clicked and nothing opened"
            return await add_effects(run, InstructionEnding("unverified", words, self._did, no("nothing opened")))
        is_late = False
        if found.status != "found" and self._popup and is_out_of_view(found):
            middle = Point(self._box.x + self._box.w // 2, self._box.y + self._box.h // 2)
            wheel = WheelSearch(run, Scrollable(self._box, middle), run.now_s() + _SCROLL_S)
            found = await wheel.search(found, self._search_option)
            is_late = wheel.is_late
        if found.status != "found":
            return await self._close_list(found, is_late=is_late)
        return await self._click_option(found.candidates[0])

    async def _open_list(self) -> Found | None:
        """Return what is found in the list that opens; None where nothing opens.

        The list is its own window, where the toolkit makes one; else it is where the display changed, and is looked at
        again where more changes: at first that may be the look of the control alone.
        """
        run, found, before, looks = self._run, None, "", count()
        while True:
            left_s = max(0.0, self._until_s - run.now_s())
            changed = await run.change(left_s, _OPEN_SETTLE_S, area=EffectArea(run.screen))
            popup = next((one for one in run.new_windows() if one.kind == "popup"), None)
            box = popup.bounds.intersect(run.screen) if popup is not None else changed.box
            if found is None or popup is not None or box != self._box:
                if box is None:
                    return found
                self._box, self._popup = box, popup.window_id if popup is not None else 0
                before, began_s = run.make_baseline(), run.now_s()
                found = await self._search_option()
                if next(looks) < _FREE_LOOKS:  # a look that takes long is not the program's time
                    self._until_s += run.now_s() - began_s
            left_s = self._until_s - run.now_s()
            if found.status == "found" or left_s <= 0 or (self._popup and is_out_of_view(found)):
                return found
            if not self._popup:
                await sleep(run.core.loop, _POLL_S)
            elif (await run.change(left_s, _OPEN_SETTLE_S, area=EffectArea(run.screen), baseline=before)).box is None:
                return found  # a list may be there before its rows are painted

    def _search_option(self) -> Steps[Found]:
        return self._run.search(self._instruction.option, verb="select", place=self._box)

    async def _close_list(self, found: Found, *, is_late: bool) -> InstructionEnding:
        assert found.status != "found"
        late = "; the time was over" if is_late else ""
        words = f"the list was opened and closed again: {explain_search(found, self._instruction.option)}{late}"
        await self._run.act(Key("Escape"))
        return InstructionEnding("unknown" if is_late else found.status, words)

    async def _click_option(self, option: Candidate) -> InstructionEnding:
        run, point = self._run, option.point
        self._did = did_text(self._instruction, option)
        if not self._box.holds(point.x, point.y):
            beside = Found("not_found", reason=f"{point.x},{point.y} lies beside the list")
            return await self._close_list(beside, is_late=False)
        run.baseline, run.moving = "", ()
        await run.act(Click(point))
        self._until_s = run.now_s() + max(_CLOSES_S, run.request.timeout_s)
        while self._popup and any(one.window_id == self._popup for one in run.watched.windows):
            if run.now_s() >= self._until_s:
                return await self._end_unread("the list stays open")
            await sleep(run.core.loop, _POLL_S)
        await run.await_stillness()
        if run.request.expect is not None:
            return await verify(run, self._did, self._control.point)
        if run.request.timeout_s <= 0:
            return await conclude(run, self._did, unknown("not_judged", "no time was given to see an effect"))
        return await self._read_back(await run.observe(point=self._control.point))

    async def _read_back(self, now: Observed) -> InstructionEnding:
        run, option = self._run, unquote(self._instruction.option)
        choice = now.choice if now.choice is not None and now.choice.role == "combo box" else None
        reads = choice.reads if choice is not None else ()
        if is_chosen(option, reads):
            return await _end_verified(run, self._did, "the list reads what was chosen")
        if choice is not None and len([one for one in reads if one != choice.name]) > 0:
            reading = FieldReading("different", choice.quoted, method="accessibility")
            words = f"{self._did}: done; not as it should be: the list reads something else"
            ending = InstructionEnding("unverified", words, self._did, no("it reads something else"), reading)
            return await add_effects(run, ending)
        if self._control.role in _MENUS and choice is None:
            return await verify(run, self._did, self._control.point)
        return await self._verify_by_ocr(option, now.unread)

    async def _verify_by_ocr(self, option: str, reason: str) -> InstructionEnding:
        """Read the pixels of a list whose program does not report the choice; a program may show that late."""
        run, box = self._run, self._control.box
        inside = box.intersect(run.screen) if box is not None else None
        if inside is None:
            return await verify(run, self._did, self._control.point)
        left_s = max(0.0, self._until_s - run.now_s())
        spec = WaitSpec(Text(option), run.seen_in(EffectArea(inside)), left_s, judge=JudgeName.OCR)
        verdict = (await run.judge(spec, reads_back=True)).machine.verdict
        if verdict.answer is Answer.YES:
            return await _end_verified(run, self._did, "what was chosen can be read in it (OCR)", "ocr")
        if verdict.answer is Answer.UNKNOWN:
            return await self._end_unread(verdict.detail)
        because = f"{reason}; " if reason else ""
        return await self._end_unread(f"{because}OCR does not read in it what was chosen")

    async def _end_unread(self, reason: str) -> InstructionEnding:
        words = f"{self._did}: done; it cannot be read back: {reason}"
        reading = FieldReading("unreadable", reason=reason)
        ending = InstructionEnding("unverified", words, self._did, unknown("engine", reason), reading)
        return await add_effects(self._run, ending)
