"""Typing into a field, and reading back what it made of that.

A field that tells its text is compared with what was typed; one that does not is read by OCR, and what cannot be read
either is not verified. Return is pressed last, and only on a field that reads what it should, or cannot be read.
"""

from __future__ import annotations

from typing import Literal

from acud.features.actions.field_text import CARET, Outcome, has_content, typed_outcome
from acud.features.actions.instructions import TypeInto, instruction_text
from acud.features.actions.supervisor.effect_watch import finish, verify
from acud.features.actions.supervisor.instruction_run import InstructionEnding, InstructionRun, did_text
from acud.features.actions.window_effects import EffectArea
from acud.protocol.observation import ObserveAsk, Observed, WidgetNow
from acud.supervisor.waits.active_waits import ActiveWait, ChangedShare
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

_DONE: dict[Outcome, str] = {
    "as_wanted": "the field reads what was typed",
    "reformatted": "the field took it and writes it in its own way",
    "completed": "the program completed it to something else",
    "different": "the field reads something else than was typed",
    "unchanged": "the field reads what it did before",
}
_ADDED = "the field reads what was typed after what stood in it (to replace that: set … to …)"


def begin(run: InstructionRun, instruction: TypeInto) -> None:
    """Find the field, type, read back."""
    if instruction.at:
        run.find(instruction.at, lambda found: TextEntry(run, instruction, found).begin(), verb="type")
    else:
        TextEntry(run, instruction, None).begin()


class TextEntry:
    """One text on its way into a field: `found`, or (None) where the focus is."""

    def __init__(self, run: InstructionRun, instruction: TypeInto, found: Candidate | None) -> None:
        self._run = run
        self._instruction = instruction
        self._found = found
        self._field: WidgetNow | None = None
        self._replaces = instruction.replace
        self._did = instruction_text(instruction) if found is None else did_text(instruction, found)
        self._looks = 0
        self._until_s = 0.0
        self._by_focus = found is None
        self._read_last: tuple[str | None, float] = (None, 0.0)
        """What the field read, and since when."""

    def begin(self) -> None:
        """Look at the field, and have it focused."""
        found = self._found
        if found is None:
            self._run.prepare((), lambda: self._run.stand(self._type))
        else:
            self._run.prepare((found.point,), lambda: self._focus(found))

    def _focus(self, found: Candidate) -> None:
        field = self._run.before.field
        point = field.first if field is not None and field.first is not None else found.point
        self._run.act((Click(point),), lambda: self._run.settle(self._type))

    # ---- typing ----------------------------------------------------------------------------------------------------

    def _type(self) -> None:
        run, field = self._run, self._run.before.field
        self._field = field
        self._replaces = self._replaces or (field is not None and field.is_value)
        run.baseline = ""  # the click itself draws a ring and a caret
        run.act((*self._place_caret(field), TypeText(self._instruction.text)), self._typed)

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

    def _typed(self) -> None:
        run = self._run
        if run.request.timeout_s <= 0:
            self._press_return("")
            return
        self._until_s = run.core.clock.monotonic_s() + run.request.timeout_s
        if self._field is None or self._field.text is None:
            self._unread(self._field.unread if self._field is not None else "")
        else:
            self._look_later()

    # ---- read back -------------------------------------------------------------------------------------------------

    def _look_later(self) -> None:
        delay_s = _READ_S[min(self._looks, len(_READ_S) - 1)]
        self._looks += 1
        look = self._run.later(lambda _: self._look())
        self._run.core.loop.call_later(delay_s, lambda: look(None))

    def _look(self) -> None:
        point = self._found.point if self._found is not None and not self._by_focus else None
        self._run.observe(self._seen, point=point)

    def _seen(self, now: Observed) -> None:
        before, field = self._field, now.field
        assert before is not None
        if not self._by_focus and (field is None or (field.role, field.box) != (before.role, before.box)):
            self._by_focus = True  # what was typed may have moved the field
            self._look()
            return
        is_over = self._run.core.clock.monotonic_s() >= self._until_s
        if field is None or field.text is None or field.role != before.role:
            if not is_over:
                self._look_later()
                return
            self._unread((field.unread if field is not None else now.unread) or "the field is not there any more")
            return
        outcome = typed_outcome(
            before.text or "", self._instruction.text, field.text, replaced=self._replaces, is_date=field.is_date
        )
        good = outcome in ("as_wanted", "reformatted")
        now_s = self._run.core.clock.monotonic_s()
        if field.text != self._read_last[0]:
            self._read_last = field.text, now_s
        if good or is_over or now_s - self._read_last[1] >= _STANDS_S:
            self._read(outcome, field, good=good)
        else:
            self._look_later()

    def _read(self, outcome: Outcome, field: WidgetNow, *, good: bool) -> None:
        before = self._field.text if self._field is not None else ""
        is_added = (
            outcome == "as_wanted" and not self._replaces and has_content(before or "") and not field.is_multi_line
        )
        done = _ADDED if is_added else _DONE[outcome]
        text = field.quoted if is_added or outcome != "as_wanted" else ""
        reading = FieldReading(outcome, text, method="accessibility")
        is_held = self._instruction.enter and not good
        if not is_held and (self._instruction.enter or self._run.request.expect is not None):
            self._press_return(done, reading)
            return
        held = "; Return was not pressed" if is_held else ""
        self._end(yes(done) if good else no(f"{done}{held}"), reading)

    def _end(self, verdict: Verdict, reading: FieldReading) -> None:
        seen = verdict.answer is Answer.YES
        done = f"done, and read back: {verdict.detail}" if seen else f"done; not as it should be: {verdict.detail}"
        if reading.outcome == "unreadable":
            done = f"done; it cannot be read back: {verdict.detail}"
        status: Literal["verified", "unverified"] = "verified" if seen else "unverified"
        finish(self._run, InstructionEnding(status, f"{self._did}: {done}", self._did, verdict, reading))

    # ---- what tells no text ----------------------------------------------------------------------------------------

    def _unread(self, reason: str) -> None:
        """Read the pixels of a field that does not tell its text; a password field shows none."""
        field = self._field
        if field is not None and field.is_secure:
            self._cannot(reason)
            return
        left_s = max(0.001, self._until_s - self._run.core.clock.monotonic_s())
        self._run.changed(lambda share: self._painted(share, reason), left_s, 0.1, area=self._place())

    def _place(self) -> EffectArea | None:
        box = self._found.box if self._found is not None else None
        inside = box.intersect(self._run.screen) if box is not None else None
        return EffectArea(inside) if inside is not None else None

    def _painted(self, share: ChangedShare, reason: str) -> None:
        area = self._place() or self._run.area
        if share.box is None:
            self._cannot(f"{_because(reason)}nothing changed there")
            return
        words = _tail(self._instruction.text)
        if len(words) < _SHORTEST:
            self._cannot(f"{_because(reason)}{len(words)} characters are too few to be recognised by OCR")
            return
        place = (
            area.box if self._found is not None else _line(share.box.shift(area.box.x, area.box.y), self._run.screen)
        )
        spec = WaitSpec(Text(words), self._run.seen_in(EffectArea(place)), 0.0, judge=JudgeName.OCR)

        def read(active: ActiveWait) -> None:
            verdict = active.machine.verdict
            if verdict.answer is Answer.YES and len(words) < len(" ".join(self._instruction.text.split())):
                self._cannot(f"{_because(reason)}only its last {len(words)} characters can be read there (OCR)")
            elif verdict.answer is Answer.YES and self._replaces:
                crop = place.intersect(self._run.screen)
                self._run.feature.observe(
                    self._run.watched, ObserveAsk(read_text=True), self._run.later(self._see_whole), crop
                )
            elif verdict.answer is Answer.YES:
                self._recognised()
            elif verdict.answer is Answer.UNKNOWN:
                self._cannot(f"{_because(reason)}{verdict.detail}")
            else:
                self._cannot(f"{_because(reason)}something changed there, and OCR does not read in it what was typed")

        self._run.core.waits.run_transient(spec, self._run.watched, self._run.later(read), reads_back=True)

    def _see_whole(self, now: Observed) -> None:
        """What was typed was read in the field; as it replaces what stood there, nothing else may be."""
        text = " ".join(now.lines)
        read, typed = "".join(text.split()), "".join(self._instruction.text.split())
        if len(read) == len(typed) or (len(read) == len(typed) + 1 and read.endswith(CARET)):
            self._recognised()
            return
        reading = FieldReading("different", text[:MAX_WORDS], method="ocr")
        self._end(no(now.unread or f"{_DONE['different']} (OCR)"), reading)

    def _recognised(self) -> None:
        reading = FieldReading("as_wanted", method="ocr")
        seen = "what was typed can be read there (OCR)"
        if self._instruction.enter or self._run.request.expect is not None:
            self._press_return(seen, reading)
        else:
            self._end(yes(seen), reading)

    def _cannot(self, reason: str) -> None:
        reading = FieldReading("unreadable", reason=reason)
        if self._instruction.enter or self._run.request.expect is not None:
            self._press_return("", reading)
        else:
            self._end(unknown("engine", reason), reading)

    # ---- Return ----------------------------------------------------------------------------------------------------

    def _press_return(self, read: str, reading: FieldReading | None = None) -> None:
        """Press Return where it is asked for, and see whether it has an effect, or what was expected comes."""
        run = self._run

        def pressed() -> None:
            note = f"; {read}" if read else ""
            if reading is not None and reading.outcome == "unreadable":
                note = f"; what was typed cannot be read back: {reading.reason}"
            verify(run, self._did, note=note, field=reading)

        if not self._instruction.enter:
            pressed()
            return
        run.baseline = ""
        run.act((Key("Return"),), pressed)


def _because(reason: str) -> str:
    return f"{reason}; " if reason else ""


def _tail(text: str) -> str:
    """Return the end of `text` in whole words, as a field shows it."""
    words = text.split()
    kept = words[-1:] if words else []
    for word in reversed(words[:-1]):
        if len(" ".join([word, *kept])) > _LONGEST:
            break
        kept.insert(0, word)
    return " ".join(kept)


def _line(box: Rect, screen: Rect) -> Rect:
    """Return `box` with a rim: OCR reads letters that touch an edge badly."""
    grown = Rect(box.x - _RIM_PX, box.y - _RIM_PX, box.w + 2 * _RIM_PX, box.h + 2 * _RIM_PX)
    return grown.intersect(screen) or box
