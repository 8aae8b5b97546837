"""The text of a display: the first provider of the chain that can read it, redacted, with boxes of words."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from acud.errors import Unavailable
from acud.evaluator.expression_time_limit import TookTooLong
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.text_layout import words_of
from acud.evaluator.redactor import Redactor
from acud.evaluator.view_pixels import ViewPixels
from acud.protocol.scene_parts import TextPart
from acud.redaction.screen_boxes import Hidden, Masked
from acud.redaction.spans import mark
from acud.scene.nouns import ProviderState
from acud.types import Rect

_MAX_TEXT = 1000
_MAX_VIEWS = 32

Words = tuple[tuple[str, Rect], ...]


class Reading(Protocol):
    """One provider of the chain."""

    name: str

    async def lines(self, shot: ViewPixels, *, fresh: bool = False) -> Sequence[Line]:
        """Return the lines in the shot's pixels. Raises: Unavailable."""
        ...


class Texts(NamedTuple):
    """What was read; with `state` unavailable there is nothing, and why stands there."""

    state: ProviderState
    parts: tuple[TextPart, ...] = ()


class TextChain:
    """Reads with the first of `readings` that can. `failed`: providers that could not even be made, and why."""

    def __init__(self, readings: Sequence[Reading], redactor: Redactor, failed: Sequence[tuple[str, str]] = ()) -> None:
        self._readings = tuple(readings)
        self._redactor = redactor
        self._failed = [f"{name}: {reason}" for name, reason in failed]
        self._words: OrderedDict[tuple[str, Rect], dict[Line, Words]] = OrderedDict()
        """Boxes of words by view: most lines of a view are those of before."""

    async def read(self, shot: ViewPixels, *, fresh: bool) -> Texts:
        """Return the shot's text as it may leave this process; never raises for what a provider does."""
        faults = list(self._failed)
        for reading in self._readings:
            try:
                lines = await reading.lines(shot, fresh=fresh)
                parts = self._parts(shot, lines)
            except (Unavailable, TookTooLong) as fault:
                faults.append(f"{reading.name}: {fault.message}")
            else:
                return Texts(ProviderState(reading.name, "ready", "; ".join(faults)[:1000]), parts)
        name = self._readings[0].name if self._readings else "none"
        reason = "; ".join(faults) or "this evaluator owns no OCR engine"
        return Texts(ProviderState(name, "unavailable", reason[:1000]))

    def _parts(self, shot: ViewPixels, lines: Sequence[Line]) -> tuple[TextPart, ...]:
        if shot.hide_fault:
            raise Unavailable(shot.hide_fault)
        key = (shot.source, shot.crop)
        before, now = self._words.pop(key, {}), dict[Line, Words]()
        parts = [self._part(shot, line, masked, before, now) for line, masked in self._redactor.masked(lines)]
        self._words[key] = now
        if len(self._words) > _MAX_VIEWS:
            self._words.popitem(last=False)
        return tuple(parts)

    def _part(
        self, shot: ViewPixels, line: Line, masked: Masked, before: dict[Line, Words], now: dict[Line, Words]
    ) -> TextPart:
        box = line.box.moved(shot.crop.x, shot.crop.y)
        hidden = covering(line.box, shot.hide)
        if hidden is not None:
            return TextPart(mark(hidden.rule), box, line.confidence, rule=hidden.rule.value)
        if masked.rule is not None:
            return TextPart(masked.text[:_MAX_TEXT], box, line.confidence, rule=masked.rule.value)
        words = now[line] = before.get(line) or tuple((one.text, one.box) for one in words_of(line, shot.pixels))
        moved = tuple((text, place.moved(shot.crop.x, shot.crop.y)) for text, place in words)
        return TextPart(line.text[:_MAX_TEXT], box, round(line.confidence, 3), moved)


def covering(box: Rect, hidden: Sequence[Hidden]) -> Hidden | None:
    """Return what hides (a part of) `box`, or None."""
    return next((one for one in hidden if one.box.intersect(box) is not None), None)
