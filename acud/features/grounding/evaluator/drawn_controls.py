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
        self.colours = colours
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
        for aside in (-2, -4, 0, 2, 4, 6):  # a detector's box may be higher than the field that the words are in
            for row in (inner.y + aside, inner.bottom - 1 - aside):
                if 0 <= row < self.height:
                    box = self.box_at(min(max(inner.x + inner.w // 2, 0), self.width - 1), row)
                    if box is not None and _holds(box, inner):
                        return box
        return None

    def depth(self, box: Rect, label: Rect) -> float:
        """Return how much further from the ink of `label` the ground of `box` is than the label's, in steps of
        brightness: a field's is so in light themes and dark ones. -256 where the ground is shaded, as buttons are, and
        where what is written in `box` is lighter than its ground and the label darker, or the reverse.
        """
        inside = self._brightness(Rect(box.x + 2, box.y + 2, box.w - 4, box.h - 4))
        on_panel = self._brightness(label)
        if not inside.size or not on_panel.size:
            return -_DARKEST
        ground, panel = float(np.median(inside)), float(np.median(on_panel))
        upper, lower = (float(np.median(part)) for part in np.array_split(inside, 2))
        written, is_dark_ink = _ink(inside, ground), _ink(on_panel, panel) < panel
        is_other = abs(written - ground) > _INK and (written < ground) != is_dark_ink
        if abs(upper - lower) > _SHADE or is_other:
            return -_DARKEST
        return ground - panel if is_dark_ink else panel - ground

    def is_marked(self, mark: Rect) -> bool:
        """Tell whether the middle of `mark`, a check box or radio button, is not of one colour: a tick is drawn in it.

        A ring around an empty middle is drawn by the pointer.
        """
        w, h = max(mark.w // 2, 3), max(mark.h // 2, 3)
        x, y = mark.x + (mark.w - w) // 2, mark.y + (mark.h - h) // 2
        middle = self.colours[y : y + h, x : x + w].reshape(-1, 3)
        return bool(np.mean(np.abs(middle - np.median(middle, axis=0)).max(axis=1) > _INK) >= _LEAST_TICK)

    def _brightness(self, box: Rect) -> NDArray[np.float64]:
        part = self.colours[max(box.y, 0) : max(box.bottom, 0), max(box.x, 0) : max(box.right, 0)]
        return np.asarray(part.mean(axis=2))

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


_DARKEST = 256.0
_SHADE = 2.0
"""What the halves of a flat ground differ by at most; the ground of a button is shaded in many themes."""
_INK = 48.0
_LEAST_TICK = 0.06
_DEEPER = 3.0
"""A field's ground is brighter than a panel's by this at least (in a dark theme darker)."""


def _ink(part: NDArray[np.float64], ground: float) -> float:
    """Return the brightness in `part` that is furthest from `ground`."""
    return float(part.flat[np.abs(part - ground).argmax()]) if part.size else ground


def _holds(box: Rect, inner: Rect) -> bool:
    """Tell whether the letters of `inner` are in `box`: nearly all of it without the detector's rim."""
    letters = _shrunk(inner)
    common = box.intersect(letters)
    return common is not None and common.w * common.h >= _SHARE_INSIDE * letters.w * letters.h


_SHARE_INSIDE = 0.85


def _shrunk(box: Rect) -> Rect:
    """Return `box` without the rim that a detector puts around letters."""
    x, y = min(_RIM_PX, box.w // 4), min(_RIM_PX, box.h // 4)
    return Rect(box.x + x, box.y + y, box.w - 2 * x, box.h - 2 * y)


_RIM_PX = 4
_RIGHT_PX = 420
"""How far to the right of its label a field may begin: forms align their fields in a column."""
_LEAST_SHAPE = 1.5
"""A field is so many times as wide as it is high, at least: what is narrower is a button with an icon."""
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
    right, around, below = _right(label, texts, edges), _around(label, texts, edges), _below(label, texts, edges)
    if around is not None and (right is None or not around.contains(right)):
        if below is None or not _is_strip(around, below):
            return Neighbour(around, sure=True)  # words inside an empty field
        deeper = edges.depth(below, label)
        return Neighbour(below if deeper > _DEEPER else around, sure=abs(deeper) > _DEEPER)
    if right is not None and (below is None or right.x - label.right <= 4 * label.h):
        return Neighbour(right, below is None or _level(label, right))
    if below is not None:
        return Neighbour(below, right is None)
    return Neighbour(right, sure=False) if right is not None else None


def _right(label: Rect, texts: Sequence[Rect], edges: Edges) -> Rect | None:
    """Return the nearest box on the label's row, where no other text stands between them."""
    found = [
        box
        for row in range(label.y - 2, label.bottom + 3, 3)
        for box in edges.boxes_in_row(row, label.right, edges.width)
        if box.x <= label.right + _RIGHT_PX
        and box.w >= _LEAST_SHAPE * box.h
        and _level(label, box)
        and not _is_button(label, box, texts, edges)
        and not _is_crossed(box, texts)
    ]
    box = min(found, key=lambda one: (one.x, -one.w), default=None)
    if box is None or any(_between(label, text, box) for text in texts):
        return None
    return box


def _is_strip(around: Rect, below: Rect) -> bool:
    """Tell whether `around` ends where `below` begins: it may be the panel between two fields, with a label on it."""
    is_next = 0 <= below.y - around.bottom <= _SIDE_PX
    return is_next and abs(below.x - around.x) <= _SIDE_PX and abs(below.right - around.right) <= _SIDE_PX


_SIDE_PX = 5
"""How thick the sides of two boxes are that touch each other."""


def _level(label: Rect, box: Rect) -> bool:
    return abs((label.y + label.h / 2) - (box.y + box.h / 2)) <= max(6, 0.5 * box.h - 2)


def _between(label: Rect, text: Rect, box: Rect) -> bool:
    same_row = min(label.bottom, text.bottom) - max(label.y, text.y) > 0.5 * min(label.h, text.h)
    return same_row and text.x >= label.right - 2 and text.x + text.w / 2 < box.x


def _below(label: Rect, texts: Sequence[Rect], edges: Edges) -> Rect | None:
    """Return the nearest box under the label that begins where it begins, or that it alone stands over."""
    left = max(0, label.x - _ALIGNED_PX)
    for row in range(label.bottom + 1, min(edges.height, label.bottom + _BELOW_PX + MAX_H_PX // 2)):
        over = edges.box_at(min(label.x + label.w // 2, edges.width - 1), row)
        boxes = edges.boxes_in_row(row, left, edges.width)
        for box in boxes if over is None or not _is_under(label, over, texts) else (*boxes, over):
            aligned = (box is over or abs(box.x - label.x) <= _ALIGNED_PX) and box.w >= _LEAST_SHAPE * box.h
            is_near = box.y >= _shrunk(label).bottom - _RIM_PX and box.y <= label.bottom + _BELOW_PX
            if aligned and is_near and not _is_button(label, box, texts, edges):
                return None if _is_crossed(box, texts) else box
    return None


def _is_under(label: Rect, box: Rect, texts: Sequence[Rect]) -> bool:
    """Tell whether of all texts on its row `label` alone stands over `box`."""
    if box.x > label.x + _ALIGNED_PX or label.right > box.right + _ALIGNED_PX:
        return False
    on_row = (text for text in texts if text != label and text.y < label.bottom and label.y < text.bottom)
    return not any(text.x < box.right and box.x < text.right for text in on_row)


def _is_button(label: Rect, box: Rect, texts: Sequence[Rect], edges: Edges) -> bool:
    """Tell whether a text stands in the middle of `box`, and does not fill what is drawn as a field: what a field
    holds begins at its left.
    """
    inside = [
        text for text in texts if box.x <= text.x + text.w / 2 < box.right and box.y <= text.y + text.h / 2 < box.bottom
    ]
    if len(inside) != 1:
        return False
    left, right = inside[0].x - box.x, box.right - inside[0].right
    if abs(left - right) > _CENTRED_PX or max(left, right) <= 0:  # a button has a margin around its words
        return False
    return left > _FILLED * inside[0].h or edges.depth(box, label) <= _DEEPER


_FILLED = 0.7
"""Of its height: how far from the side of a field the text begins that it holds."""


def _around(label: Rect, texts: Sequence[Rect], edges: Edges) -> Rect | None:
    """Return the field that `label` stands in as its hint: nothing else is written in it, as in a bar of tools."""
    box = edges.around(label)
    if box is None or box.w < 1.2 * label.w or box.h < 0.9 * label.h:
        return None
    others = (text for text in texts if text != label and label.intersect(text) is None)
    return None if any(box.holds(text.x + text.w // 2, text.y + text.h // 2) for text in others) else box


def _is_crossed(box: Rect, texts: Sequence[Rect]) -> bool:
    """Tell whether a text stands partly in `box`: then its side is a stroke of a letter, or another control's."""
    for text in map(_shrunk, texts):
        common = box.intersect(text)
        is_over = max(box.x - text.x, text.right - box.right) > _CROSSED_PX
        if common is not None and common.w > _CROSSED_PX and common.h > 0.5 * text.h and is_over:
            return True
    return False


_CROSSED_PX = 3
"""How far the letters of a text may reach over the side of a field."""


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


def square_mark_of(label: Rect, edges: Edges) -> Rect | None:
    """Return the mark that begins before `label`, or that a detector took into it, and is as high as it is wide and
    closed, as check boxes and radio buttons are; None when there is none. An icon before a name mostly is not so.
    """
    middle = label.y + label.h // 2
    left, last = max(0, label.x - round(2.2 * label.h)), label.x + _MARK_MIN_PX
    band = edges.columns[max(middle - 2, 0) : middle + 3, left : last + _MARK_MAX_PX].any(axis=0)
    sides = (np.flatnonzero(band) + left).tolist()
    found = [
        mark
        for first in sides if first <= last
        for second in sides if _MARK_MIN_PX <= second - first <= _MARK_MAX_PX
        if (mark := _closed_square(first, second, middle, edges)) is not None
        # A round letter looks the same, but the next letter is nearer.
        and (first <= label.x - _MARK_MIN_PX // 2
             or not edges.columns[mark.y : mark.bottom, second + 1 : second + _MARK_GAP_PX].any())
    ]  # fmt: skip
    return min(found, key=lambda one: (-(one.right > label.x - 2 * one.w), abs(one.w - one.h), -one.x), default=None)


_MARK_GAP_PX = 4


def _closed_square(left: int, right: int, middle: int, edges: Edges) -> Rect | None:
    """Return the square around row `middle` between two upright edges, where edges close it above and below."""
    third = (right - left) // 3
    top, bottom = max(middle - _MARK_MAX_PX, 0), min(middle + _MARK_MAX_PX, edges.height)
    lines = np.flatnonzero(edges.rows[top:bottom, left + third : right - third].mean(axis=1) >= _SHARE) + top
    for upper in lines[lines < middle - 2][::-1].tolist():
        for lower in lines[lines > middle + 2].tolist():
            is_middle = abs((upper + lower) / 2 - middle) <= _SQUARE_PX + 1
            is_apart = edges.rows[[upper, lower], right + 3 : right + 9].mean() < 1 - _SHARE  # no button's side
            if (
                is_apart
                and is_middle
                and lower - upper >= _MARK_MIN_PX
                and abs((lower - upper) - (right - left)) <= _SQUARE_PX
            ):
                return Rect(left, upper, right - left, lower - upper)
    return None


_SQUARE_PX = 3
"""How much the height of a mark may differ from its width: edges are one pixel thick, and soft."""
