"""Boxes of things on a screen from two finders, a detector and OCR, made one list without doubles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from acud.evaluator.ocr.engine import Line
from acud.types import Rect

_INSIDE = 0.8
"""Of a box that lies in another, so that both are one thing."""


class Part(NamedTuple):
    """A thing on the screen in view pixels; `text` is what OCR read there, `caption` what a model says it shows."""

    box: Rect
    confidence: float
    text: str = ""
    caption: str = ""


def merge(detected: Sequence[Part], lines: Iterable[Line], max_overlap: float) -> list[Part]:
    """Return the things on a screen in reading order: detections without doubles, then text that is in none of them.

    Of two detections that overlap by more than `max_overlap` (intersection over union), or of which one holds the
    other, the surer stays. A line in a detection becomes its text; a detection in a line (a letter taken for an icon)
    is dropped for the line.
    """
    read = [Part(line.box, line.confidence, line.text) for line in lines if line.box.area > 0]
    kept = [part for part in _without_doubles(detected, max_overlap) if not any(_in(part, line) for line in read)]
    named = [part._replace(text=" ".join(line.text for line in read if _in(line, part))) for part in kept]
    loose = [line for line in read if not any(_in(line, part) for part in kept)]
    return sorted([*named, *loose], key=lambda part: (part.box.y, part.box.x))


def _without_doubles(parts: Sequence[Part], max_overlap: float) -> list[Part]:
    kept: list[Part] = []
    for part in sorted(parts, key=lambda part: -part.confidence):
        if part.box.area > 0 and not any(_same(part, other, max_overlap) for other in kept):
            kept.append(part)
    return kept


def _same(one: Part, other: Part, max_overlap: float) -> bool:
    common = _common(one, other)
    union = one.box.area + other.box.area - common
    return common > max_overlap * union or _in(one, other) or _in(other, one)


def _in(inner: Part, outer: Part) -> bool:
    return _common(inner, outer) >= _INSIDE * inner.box.area and inner.box.area <= outer.box.area


def _common(one: Part, other: Part) -> int:
    common = one.box.intersect(other.box)
    return common.area if common else 0
