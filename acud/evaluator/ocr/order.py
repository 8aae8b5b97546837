"""Lines in reading order: rows from top to bottom, and blocks of lines that belong together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from acud.evaluator.ocr.engine import Line
from acud.types import Rect


def rows(lines: Iterable[Line]) -> list[list[Line]]:
    """Return the lines as rows of the screen, top to bottom, each from left to right.

    A line joins a row when at least half of its height, or of the row's newest line's, lies beside that line.
    """
    found: list[list[Line]] = []
    for line in sorted(lines, key=lambda one: (one.box.y + one.box.h / 2, one.box.x)):
        if found and _beside(found[-1][-1].box, line.box):
            found[-1].append(line)
        else:
            found.append([line])
    return [sorted(row, key=lambda one: one.box.x) for row in found]


def blocks(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines as blocks (a paragraph, a dialog's message), each in reading order.

    A line joins the block of a line above when it starts or overlaps below it at less than a line's height: text
    that wraps in one window is not cut up by the window next to it, as whole rows would be.
    """
    found: list[list[Line]] = []
    for line in (line for row in rows(lines) for line in row):
        above = [block for block in found if any(_follows(other.box, line.box) for other in block)]
        block = above[0] if above else []
        for other in above[1:]:
            block.extend(other)
            found.remove(other)
        if not above:
            found.append(block)
        block.append(line)
    return [[line for row in rows(block) for line in row] for block in found]


def _beside(a: Rect, b: Rect) -> bool:
    common = min(a.bottom, b.bottom) - max(a.y, b.y)
    return 2 * common >= min(a.h, b.h)


def _follows(above: Rect, below: Rect) -> bool:
    gap = below.y - above.bottom
    overlap = min(above.right, below.right) - max(above.x, below.x)
    return overlap > 0 and -above.h < gap < min(above.h, below.h)
