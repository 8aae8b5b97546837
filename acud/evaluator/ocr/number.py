"""Does a number on the screen compare as asked? It stands after its label in a line or a row, or right below it."""

from __future__ import annotations

from collections.abc import Sequence

from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.match import letters_close
from acud.evaluator.ocr.text_layout import rows
from acud.types import Rect, ScreenNumber, Verdict
from acud.waits.read_text import (
    NumberSeen,
    after_label,
    agreed,
    begins_with_number,
    compared,
    not_after,
    only_number,
    spaced,
)

_MOST_BELOW = 2.5
"""Heights of the label between it and a number below it."""


def look_for_number(lines: Sequence[Line], leaf: ScreenNumber, min_confidence: float, at: Rect) -> Verdict:
    """Return the verdict on `leaf` over the `lines` of a view that lies at `at` in its source."""
    sure = [line for line in lines if line.confidence >= min_confidence]
    if not leaf.label:
        texts, boxes = [spaced(line.text) for line in sure], [line.box for line in sure]
        return only_number(leaf, texts, lambda index: _place(sure[index], at), boxes)
    found: list[tuple[NumberSeen, Line]] = []
    labels = 0
    for row in rows(sure):
        for index, line in enumerate(row):
            for seen in after_label(leaf, spaced(line.text), letters_close):
                labels += 1
                number = (seen, line) if seen is not None else None
                if number is None and _ends_with_label(leaf, line):
                    number = _beside(leaf, line, row[index + 1 :], sure)
                found += [number] if number is not None else []
    verdicts = [compared(leaf, seen, f' after "{leaf.label}"{_place(line, at)}', (line.box,)) for seen, line in found]
    return agreed(leaf, verdicts) if verdicts else not_after(leaf, labels > 0)


def _ends_with_label(leaf: ScreenNumber, line: Line) -> bool:
    """Tell whether nothing is said after the label in its line: "Errors: none" has its value."""
    return letters_close(spaced(line.text)).rstrip(" :=-–—").endswith(letters_close(leaf.label).rstrip(" :=-–—"))


def _beside(
    leaf: ScreenNumber, label: Line, right: Sequence[Line], lines: Sequence[Line]
) -> tuple[NumberSeen, Line] | None:
    """Return the number that the next line of the row begins with, else the one below the label."""
    for line in (*right[:1], *_below(label, lines)[:1]):
        seen = begins_with_number(leaf, spaced(line.text))
        if seen is not None:
            return seen, line
    return None


def _below(label: Line, lines: Sequence[Line]) -> list[Line]:
    box = label.box
    under = [
        line for line in lines
        if box.bottom - box.h // 2 <= line.box.y <= box.bottom + _MOST_BELOW * box.h
        and min(box.right, line.box.right) > max(box.x, line.box.x)
    ]  # fmt: skip
    return sorted(under, key=lambda line: line.box.y)


def _place(line: Line, at: Rect) -> str:
    box = line.box.moved(at.x, at.y)
    return f" at {box.x},{box.y} ({box.w}x{box.h})"
