"""The field that a label belongs to: the box to its right, below it, or around it (words inside an empty field)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from acud.evaluator.grounding.frames import MAX_H_PX, Edges
from acud.evaluator.ocr.changes import runs
from acud.types import Rect

_RIGHT_PX = 420
"""How far to the right of its label a field may begin: forms align their fields in a column."""
_BELOW_PX = 34
_ALIGNED_PX = 16
_CENTRED_PX = 8
_MARK_MIN_PX, _MARK_MAX_PX = 9, 26
"""The width of a check box's or a radio button's mark."""


class Neighbour(NamedTuple):
    """A field's box, and whether it alone can be meant."""

    box: Rect
    sure: bool


def field_of(label: Rect, texts: Sequence[Rect], edges: Edges) -> Neighbour | None:
    """Return the field that `label` names, or None. `texts`: the boxes of all text that was read."""
    right, around = _right(label, texts, edges), _around(label, edges)
    if around is not None and (right is None or not around.contains(right)):
        return Neighbour(around, sure=True)  # words inside an empty field
    below = _below(label, texts, edges)
    if right is not None and (below is None or right.x - label.right <= 4 * label.h):
        return Neighbour(right, below is None or _level(label, right))
    if below is not None:
        return Neighbour(below, right is None)
    return Neighbour(right, sure=False) if right is not None else None


def _right(label: Rect, texts: Sequence[Rect], edges: Edges) -> Rect | None:
    """Return the nearest box on the label's row, where no other text stands between them."""
    end = min(edges.width, label.right + _RIGHT_PX)
    found = [
        box
        for row in range(label.y - 2, label.bottom + 3, 3)
        for box in edges.boxes_in_row(row, label.right, end)
        if _level(label, box) and not _is_button(box, texts)
    ]
    box = min(found, key=lambda one: (one.x, -one.w), default=None)
    if box is None or any(_between(label, text, box) for text in texts):
        return None
    return box


def _level(label: Rect, box: Rect) -> bool:
    return abs((label.y + label.h / 2) - (box.y + box.h / 2)) <= max(6, 0.5 * box.h - 2)


def _between(label: Rect, text: Rect, box: Rect) -> bool:
    same_row = min(label.bottom, text.bottom) - max(label.y, text.y) > 0.5 * min(label.h, text.h)
    return same_row and text.x >= label.right - 2 and text.x + text.w / 2 < box.x


def _below(label: Rect, texts: Sequence[Rect], edges: Edges) -> Rect | None:
    """Return the nearest box under the label that begins where it begins."""
    left, end = max(0, label.x - _ALIGNED_PX), min(edges.width, label.x + 900)
    for row in range(label.bottom + 1, min(edges.height, label.bottom + _BELOW_PX + MAX_H_PX // 2)):
        for box in edges.boxes_in_row(row, left, end):
            aligned = abs(box.x - label.x) <= _ALIGNED_PX
            if aligned and -4 <= box.y - label.bottom <= _BELOW_PX and not _is_button(box, texts):
                return box
    return None


def _is_button(box: Rect, texts: Sequence[Rect]) -> bool:
    """Tell whether a text stands in the middle of `box`: what a field holds begins at its left."""
    inside = [
        text for text in texts if box.x <= text.x + text.w / 2 < box.right and box.y <= text.y + text.h / 2 < box.bottom
    ]
    if len(inside) != 1:
        return False
    left, right = inside[0].x - box.x, box.right - inside[0].right
    return abs(left - right) <= _CENTRED_PX


def _around(label: Rect, edges: Edges) -> Rect | None:
    box = edges.around(label)
    return box if box is not None and box.w >= 1.2 * label.w and box.h >= 0.9 * label.h else None


def mark_of(label: Rect, edges: Edges) -> Rect | None:
    """Return the mark of a check box or radio button to the left of `label`; None when nothing like it is there."""
    rows = slice(max(label.y, 0), label.bottom)
    left = max(0, label.x - round(2.2 * label.h))
    flags = edges.columns[rows, left : label.x + 3].any(axis=0)
    found = [(a, b) for a, b in runs(np.asarray(flags), _MARK_MAX_PX - 2) if b - a >= _MARK_MIN_PX]
    if not found or found[-1][1] - found[-1][0] > _MARK_MAX_PX:
        return None
    first, last = found[-1]
    return Rect(left + first, label.y, last - first, label.h)
