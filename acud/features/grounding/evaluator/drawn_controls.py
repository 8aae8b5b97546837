"""Controls that are drawn on the screen, from their edges alone, and the field that a label belongs to.

A box is a run of pixels in one row without a jump of colour, bounded left and right by such jumps, whose columns end
at a jump above and below. Gradients have none, so shaded buttons are found as flat ones are. A label's field is the box
to its right, below it, or around it (words inside an empty field).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from acud.evaluator.ocr.changes import runs
from acud.types import Rect

_JUMP = 9
"""A difference of neighbouring pixels, in the strongest channel, that counts as an edge; gradients step by 1 to 3."""
_SHARE = 0.8
"""Of a side that must be an edge: round corners and letters touch the rest."""

MIN_W_PX, MIN_H_PX = 24, 12
MAX_H_PX = 64
"""Of a control of one row; taller boxes are panes and pictures."""


class Edges:
    """The jumps of colour of one picture (height x width x 4 uint8 BGRX)."""

    def __init__(self, pixels: NDArray[np.uint8]) -> None:
        colours = pixels[:, :, :3].astype(np.int16)
        self.height, self.width = colours.shape[:2]
        self.columns = np.zeros((self.height, self.width), np.bool_)
        """[y, x]: the pixel differs from its left neighbour."""
        self.columns[:, 1:] = np.abs(np.diff(colours, axis=1)).max(axis=2) > _JUMP
        self.rows = np.zeros((self.height, self.width), np.bool_)
        """[y, x]: the pixel differs from the one above."""
        self.rows[1:] = np.abs(np.diff(colours, axis=0)).max(axis=2) > _JUMP

    def box_at(self, x: int, y: int) -> Rect | None:
        """Return the control's box whose inside has the pixel (x, y) on an empty stretch of a row; None for none."""
        left, right = self._run(x, y)
        return self._closed(left, right, y)

    def boxes_in_row(self, y: int, left: int, right: int) -> list[Rect]:
        """Return the boxes that row `y` runs through between two columns, from left to right."""
        if not 0 <= y < self.height:
            return []
        breaks = [left, *(int(x) for x in np.flatnonzero(self.columns[y, left:right]) + left), right]
        stretches = [(a, b) for a, b in itertools.pairwise(breaks) if b - a >= MIN_W_PX]
        found = (self._closed(a, b, y) for a, b in stretches)
        return [box for box in found if box is not None]

    def around(self, inner: Rect) -> Rect | None:
        """Return the smallest control's box that holds `inner` (a word on a button), or None."""
        for row in (inner.y - 2, inner.bottom + 1, inner.y - 4, inner.bottom + 3, inner.y, inner.bottom - 1):
            if 0 <= row < self.height:
                box = self.box_at(min(max(inner.x + inner.w // 2, 0), self.width - 1), row)
                if box is not None and box.contains(_shrunk(inner)):
                    return box
        return None

    def _run(self, x: int, y: int) -> tuple[int, int]:
        row = self.columns[y]
        before, after = np.flatnonzero(row[: x + 1]), np.flatnonzero(row[x + 1 :])
        return (int(before[-1]) if before.size else 0), (int(after[0]) + x + 1 if after.size else self.width)

    def _closed(self, left: int, right: int, y: int) -> Rect | None:
        """Return the box of columns [left, right) around row `y`, where an edge closes it above and below."""
        if right - left < MIN_W_PX:
            return None
        top = self._edge(left, right, range(y, max(y - MAX_H_PX, 0), -1))
        bottom = self._edge(left, right, range(y + 1, min(y + MAX_H_PX, self.height)))
        if top is None or bottom is None or not MIN_H_PX <= bottom - top <= MAX_H_PX:
            return None
        box = Rect(left, top, right - left, bottom - top)
        return box if self._sides(box) else None

    def _edge(self, left: int, right: int, rows: range) -> int | None:
        """Return the first of `rows` that is an edge up to both corners: a row of buttons is no side of a box."""
        inset = min(3, (right - left) // 8)
        part = self.rows[:, left + inset : right - inset]
        for row in rows:
            if part[row].mean() >= _SHARE and part[row, 3:6].all() and part[row, -6:-3].all():
                return row
        return None

    def _sides(self, box: Rect) -> bool:
        """Tell whether both sides are edges, also away from the row that was looked at."""
        rows = slice(box.y + 3, max(box.bottom - 3, box.y + 4))
        return all(
            self.columns[rows, max(x - 1, 0) : x + 2].any(axis=1).mean() >= _SHARE
            for x in (box.x, box.right)
            if 0 < x < self.width
        )


def _shrunk(box: Rect) -> Rect:
    """Return `box` without the rim that a detector puts around letters."""
    x, y = min(4, box.w // 4), min(4, box.h // 4)
    return Rect(box.x + x, box.y + y, box.w - 2 * x, box.h - 2 * y)


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
