"""Typing into a field, and reading back what it made of that.

A field that reports its text is compared with what was typed; one that does not is read by OCR, and what cannot be read
either is not verified. Return is pressed last, and only on a field that reads what it should, or cannot be read.
"""

from __future__ import annotations

from itertools import chain, repeat
from typing import Literal

from acud.features.actions.field_text import CARET, Outcome, has_content, typed_outcome
from acud.features.actions.instructions import TypeInto, instruction_text
from acud.features.actions.supervisor.effect_watch import add_effects, verify
from acud.features.actions.supervisor.instruction_run import InstructionEnding, InstructionRun, did_text
from acud.features.actions.window_effects import EffectArea
from acud.protocol.observation import Observed, WidgetNow
from acud.supervisor.coroutines import Steps, sleep
from acud.types import Answer, JudgeName, Rect, Text, Verdict, WaitSpec, no, unknown, yes
from acud.types.action_effects import MAX_WORDS, FieldReading
from acud.types.actions import Action, Click, Key, TypeText
from acud.types.grounding import TEXT_AREA, Candidate

_READ_S = (0.03, 0.1, 0.2, 0.3)
"""Between looks at a field, the last one again and again: a program shows what it got a moment later."""
_STANDS_S = 0.6
"""What a field reads for so long is what it made of the text."""
_SHORTEST = 3
"""Fewer characters than this are on most screens anyway: that OCR sees them shows nothing."""
_LONGEST = 32
"""A field shows the end of a long text."""
_RIM_PX = 4
_GOOD = ("as_wanted", "reformatted")

_DONE: dict[Outcome, str] = {
    "as_wanted": "the field reads what was typed",
    "reformatted": "the field took it and writes it in its own way",
    "completed": "the program completed it to something else",
    "different": "the field reads something else than was typed",
    "unchanged": "the field reads what it did before",
}
_ADDED = "the field reads what was typed after what stood in it (to replace that: set … to …)"


async def type_into(run: InstructionRun, instruction: TypeInto) -> InstructionEnding:
    """Find the field, type, and read back; without a description, type where the focus is."""
    found = await run.find(instruction.at, verb="type") if instruction.at else None
    return await TextEntry(run, instruction, found).type_text()


class TextEntry:
    """One text on its way into a field: `candidate`, or (None) where the focus is."""

    def __init__(self, run: InstructionRun, instruction: TypeInto, candidate: Candidate | None) -> None:
        self._run = run
        self._instruction = instruction
        self._found = candidate
        self._field: WidgetNow | None = None
        self._replaces = instruction.replace
        self._did = instruction_text(instruction) if candidate is None else did_text(instruction, candidate)
        self._until_s = 0.0

    async def type_text(self) -> InstructionEnding:
        """Focus the field, type the text and read it back; press Return last."""
        run, found = self._run, self._found
        await run.record_before(*(() if found is None else (found.point,)))
        field = self._field = run.before.field
        if found is None:
            await run.let_movement_pass()
        else:
            await run.act(Click(field.first if field is not None and field.first is not None else found.point))
            await run.await_stillness()
        self._replaces = self._replaces or (field is not None and field.is_value)
        run.baseline = ""  # the click itself draws a ring and a caret
        await run.act(*self._place_caret(field), TypeText(self._instruction.text))
        if run.request.timeout_s <= 0:
            return await self._press_return("", None)
        self._until_s = run.now_s() + run.request.timeout_s
        if field is None or field.text is None:
            return await self._read_pixels(field.unread if field is not None else "")
        return await self._read_back(field)

    def _place_caret(self, field: WidgetNow | None) -> tuple[Action, ...]:
        """Return the keys before the text: where the field is known, its end, whatever part of it was clicked."""
        if field is not None and field.first is not None:
            return ()  # the parts of a date take their digits one after the other
        if field is None and self._found is not None and self._found.role == TEXT_AREA:
            return (Key("ctrl+Home"), Key("ctrl+shift+End")) if self._replaces else (Key("ctrl+End"),)
        if self._replaces:
            is_known = field is not None and field.text is not None
            # In Tk and Athena ctrl+a goes to the line's beginning.
            return (Key("ctrl+a"),) if is_known else (Key("ctrl+a"), Key("shift+End"))
        if field is None or field.text is None or field.role == "terminal" or self._found is None:
            return ()
        if not has_content(field.text):
            return (Key("Home"),)  # a mask is filled from its beginning
        return (Key("ctrl+End" if field.is_multi_line else "End"),)

    async def _read_back(self, before: WidgetNow) -> InstructionEnding:
        """Compare the field's text with what was typed, until it is that, or stays something else."""
        run, by_focus = self._run, self._found is None
        seen, since_s, delays_s = None, 0.0, chain(_READ_S, repeat(_READ_S[-1]))
        while True:
            await sleep(run.core.loop, next(delays_s))
            now = await self._observe_field(by_focus=by_focus)
            if not by_focus and (now.field is None or (now.field.role, now.field.box) != (before.role, before.box)):
                by_focus = True  # what was typed may have moved the field
                now = await self._observe_field(by_focus=True)
            field, now_s = now.field, run.now_s()
            if field is None or field.text is None or field.role != before.role:
                if now_s >= self._until_s:
                    reason = field.unread if field is not None else now.unread
                    return await self._read_pixels(reason or "the field is not there any more")
                continue
            outcome = typed_outcome(
                before.text or "", self._instruction.text, field.text, replaced=self._replaces, is_date=field.is_date
            )
            if field.text != seen:
                seen, since_s = field.text, now_s
            if outcome in _GOOD or now_s >= self._until_s or now_s - since_s >= _STANDS_S:
                return await self._judge_text(outcome, field)

    def _observe_field(self, *, by_focus: bool) -> Steps[Observed]:
        return self._run.observe(point=self._found.point if self._found is not None and not by_focus else None)

    async def _judge_text(self, outcome: Outcome, field: WidgetNow) -> InstructionEnding:
        before, is_good = self._field.text if self._field is not None else "", outcome in _GOOD
        is_added = (
            outcome == "as_wanted" and not self._replaces and has_content(before or "") and not field.is_multi_line
        )
        done = _ADDED if is_added else _DONE[outcome]
        text = field.quoted if is_added or outcome != "as_wanted" else ""
        reading = FieldReading(outcome, text, method="accessibility")
        if self._instruction.enter and not is_good:
            return await self._make_ending(no(f"{done}; Return was not pressed"), reading)
        if self._goes_on:
            return await self._press_return(done, reading)
        return await self._make_ending(yes(done) if is_good else no(done), reading)

    @property
    def _goes_on(self) -> bool:
        return self._instruction.enter or self._run.request.expect is not None

    async def _make_ending(self, verdict: Verdict, reading: FieldReading) -> InstructionEnding:
        is_good = verdict.answer is Answer.YES
        done = f"done, and read back: {verdict.detail}" if is_good else f"done; not as it should be: {verdict.detail}"
        if reading.outcome == "unreadable":
            done = f"done; it cannot be read back: {verdict.detail}"
        status: Literal["verified", "unverified"] = "verified" if is_good else "unverified"
        ending = InstructionEnding(status, f"{self._did}: {done}", self._did, verdict, reading)
        return await add_effects(self._run, ending)

    async def _read_pixels(self, reason: str) -> InstructionEnding:
        """Read the pixels of a field whose program reports no text; a password field shows none."""
        run, field = self._run, self._field
        if field is not None and field.is_secure:
            return await self._end_unread(reason)
        because = f"{reason}; " if reason else ""
        left_s, place = max(0.001, self._until_s - run.now_s()), self._find_place()
        changed = (await run.change(left_s, 0.1, area=place)).box
        if changed is None:
            return await self._end_unread(f"{because}nothing changed there")
        words = _cut_tail(self._instruction.text)
        if len(words) < _SHORTEST:
            return await self._end_unread(f"{because}{len(words)} characters are too few to be recognised by OCR")
        area = place or run.area
        box = area.box if self._found is not None else _add_rim(changed.shift(area.box.x, area.box.y), run.screen)
        spec = WaitSpec(Text(words), run.seen_in(EffectArea(box)), 0.0, judge=JudgeName.OCR)
        verdict = (await run.judge(spec, reads_back=True)).machine.verdict
        if verdict.answer is Answer.UNKNOWN:
            return await self._end_unread(f"{because}{verdict.detail}")
        if verdict.answer is Answer.NO:
            return await self._end_unread(
                f"{because}something changed there, and OCR does not read in it what was typed"
            )
        if len(words) < len(" ".join(self._instruction.text.split())):
            return await self._end_unread(f"{because}only its last {len(words)} characters can be read there (OCR)")
        inside = box.intersect(run.screen)
        return await self._check_whole(inside) if self._replaces and inside is not None else await self._end_by_ocr()

    def _find_place(self) -> EffectArea | None:
        box = self._found.box if self._found is not None else None
        inside = box.intersect(self._run.screen) if box is not None else None
        return EffectArea(inside) if inside is not None else None

    async def _check_whole(self, box: Rect) -> InstructionEnding:
        """Read the field, and report a fault if it holds more than the typed text, which replaced its content."""
        now = await self._run.read_text(box)
        text = " ".join(now.lines)
        read, typed = "".join(text.split()), "".join(self._instruction.text.split())
        if len(read) == len(typed) or (len(read) == len(typed) + 1 and read.endswith(CARET)):
            return await self._end_by_ocr()
        reading = FieldReading("different", text[:MAX_WORDS], method="ocr")
        return await self._make_ending(no(now.unread or f"{_DONE['different']} (OCR)"), reading)

    async def _end_by_ocr(self) -> InstructionEnding:
        reading = FieldReading("as_wanted", method="ocr")
        seen = "what was typed can be read there (OCR)"
        return await (self._press_return(seen, reading) if self._goes_on else self._make_ending(yes(seen), reading))

    async def _end_unread(self, reason: str) -> InstructionEnding:
        reading = FieldReading("unreadable", reason=reason)
        if self._goes_on:
            return await self._press_return("", reading)
        return await self._make_ending(unknown("engine", reason), reading)

    async def _press_return(self, read: str, reading: FieldReading | None) -> InstructionEnding:
        """Press Return where it is asked for, and see whether it has an effect, or what was expected comes."""
        if self._instruction.enter:
            self._run.baseline = ""
            await self._run.act(Key("Return"))
        note = f"; {read}" if read else ""
        if reading is not None and reading.outcome == "unreadable":
            note = f"; what was typed cannot be read back: {reading.reason}"
        return await verify(self._run, self._did, note=note, field=reading)


def _cut_tail(text: str) -> str:
    """Return the end of `text` in whole words, as a field shows it."""
    words = text.split()
    kept = words[-1:] if words else []
    for word in reversed(words[:-1]):
        if len(" ".join([word, *kept])) > _LONGEST:
            break
        kept.insert(0, word)
    return " ".join(kept)


def _add_rim(box: Rect, screen: Rect) -> Rect:
    """Return `box` with a rim: OCR reads letters that touch an edge badly."""
    grown = Rect(box.x - _RIM_PX, box.y - _RIM_PX, box.w + 2 * _RIM_PX, box.h + 2 * _RIM_PX)
    return grown.intersect(screen) or box
