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
        self._closing: dict[tuple[int, int], NDArray[np.intp]] = {}

    def box_at(self, x: int, y: int, max_h: int = MAX_H_PX) -> Rect | None:
        """Return the control's box that has the pixel (x, y) on an empty stretch of a row inside it, or None."""
        row = self.columns[y]
        before, after = np.flatnonzero(row[: x + 1]), np.flatnonzero(row[x + 1 :])
        left, right = (int(before[-1]) if before.size else 0), (int(after[0]) + x + 1 if after.size else self.width)
        return self._close_box(left, right, y, max_h)

    def boxes_in_row(self, y: int, left: int, right: int, max_h: int = MAX_H_PX) -> list[Rect]:
        """Return the boxes that row `y` runs through between two columns, from left to right."""
        if not 0 <= y < self.height:
            return []
        breaks = [left, *(int(x) for x in np.flatnonzero(self.columns[y, left:right]) + left), right]
        stretches = [(a, b) for a, b in itertools.pairwise(breaks) if b - a >= MIN_W_PX]
        found = (self._close_box(a, b, y, max_h) for a, b in stretches)
        return [box for box in found if box is not None]

    def around(self, inner: Rect) -> Rect | None:
        """Return the smallest control's box around `inner` (a word on a button), or None."""
        for aside in (-2, -4, 0, 2, 4, 6):  # a detector's box may be higher than the field that the words are in
            for row in (inner.y + aside, inner.bottom - 1 - aside):
                if 0 <= row < self.height:
                    box = self.box_at(min(max(inner.x + inner.w // 2, 0), self.width - 1), row)
                    if box is not None and _holds_letters(box, inner):
                        return box
        return None

    def depth(self, box: Rect, label: Rect) -> float:
        """Return how much further from the ink of `label` the ground of `box` is than the label's ground, in steps of
        brightness: positive for fields, in light themes and dark ones. Return -256 for a shaded ground, as buttons
        have, and where the text in `box` is lighter than its ground and the label darker, or the reverse.
        """
        inside = self._brightness(Rect(box.x + 2, box.y + 2, box.w - 4, box.h - 4))
        on_panel = self._brightness(label)
        if not inside.size or not on_panel.size:
            return -_DARKEST
        ground, panel = float(np.median(inside)), float(np.median(on_panel))
        upper, lower = (float(np.median(part)) for part in np.array_split(inside, 2))
        written, is_dark_ink = _measure_ink(inside, ground), _measure_ink(on_panel, panel) < panel
        is_other = abs(written - ground) > _INK and (written < ground) != is_dark_ink
        if abs(upper - lower) > _SHADE or is_other:
            return -_DARKEST
        return ground - panel if is_dark_ink else panel - ground

    def frame_with_title(self, label: Rect) -> Rect | None:
        """Return the frame that has `label` in its upper line, as a group has its title, or None."""
        first, right = max(label.x - _BEFORE_TITLE_PX, 0), label.right + _RIM_PX
        if right + MIN_W_PX > self.width:
            return None
        found: list[Rect] = []
        for y in range(max(label.y + label.h // 3, 1), min(label.bottom - label.h // 3, self.height)):
            is_broken = self.rows[y, label.x + _RIM_PX : label.right - _RIM_PX].mean() < _SHARE
            if not is_broken or not self.rows[y, right : right + MIN_W_PX].all():
                continue
            gaps = np.flatnonzero(~self.rows[y, right:])
            end = right + int(gaps[0]) if gaps.size else self.width
            upright = self.columns[label.bottom : label.bottom + MIN_H_PX, first : label.x + _RIM_PX].all(axis=0)
            for x in (np.flatnonzero(upright) + first).tolist():
                breaks = np.flatnonzero(~self.columns[label.bottom :, x])
                side = label.bottom + int(breaks[0]) if breaks.size else self.height
                lines = self._find_lines(x, end)
                # Fields inside have such lines, too: the frame's is the last.
                bottom = int(max(lines[lines < side + _SIDE_PX], default=0))
                corners = self.rows[bottom, [*range(x + 2, x + 6), *range(end - 6, end - 2)]]
                if bottom > label.bottom + MIN_H_PX and corners.all():
                    found.append(Rect(x, y, end - x, bottom - y))
        return min(found, key=lambda frame: (frame.bottom, -frame.w), default=None)

    def is_parted(self, box: Rect, texts: Sequence[Rect], length: int) -> bool:
        """Return whether `box` holds more than `texts`: a straight line of `length`, or a picture (many colours)."""
        rows, columns = (
            np.pad(flags[box.y : box.bottom, box.x : box.right].astype(np.int32), ((1, 0), (1, 0)))
            for flags in (self.rows, self.columns)
        )
        ground = self.colours[box.y : box.bottom, box.x : box.right]
        is_ground = np.abs(ground - np.median(ground, axis=(0, 1))).max(axis=2) <= _JUMP
        for text in texts:
            part = np.s_[max(text.y - box.y, 0) : text.bottom - box.y, max(text.x - box.x, 0) : text.right - box.x]
            rows[1:, 1:][part] = columns[1:, 1:][part] = 0
            is_ground[part] = True
        wide, high = rows.cumsum(axis=1), columns.cumsum(axis=0)
        is_lined = (wide[:, length:] - wide[:, :-length] == length).any()
        return bool(is_lined or (high[length:] - high[:-length] == length).any() or is_ground.mean() < _SHARE)

    def is_marked(self, mark: Rect) -> bool:
        """Return whether the middle of `mark`, a check box or radio button, is not of one colour: it has a tick.

        A ring around an empty middle is drawn by the pointer.
        """
        w, h = max(mark.w // 2, 3), max(mark.h // 2, 3)
        x, y = mark.x + (mark.w - w) // 2, mark.y + (mark.h - h) // 2
        middle = self.colours[y : y + h, x : x + w].reshape(-1, 3)
        return bool(np.mean(np.abs(middle - np.median(middle, axis=0)).max(axis=1) > _INK) >= _LEAST_TICK)

    def _brightness(self, box: Rect) -> NDArray[np.float64]:
        part = self.colours[max(box.y, 0) : max(box.bottom, 0), max(box.x, 0) : max(box.right, 0)]
        return np.asarray(part.mean(axis=2))

    def _close_box(self, left: int, right: int, y: int, max_h: int) -> Rect | None:
        """Return the box of columns [left, right) around row `y` that an edge closes above and below."""
        if right - left < MIN_W_PX:
            return None
        lines = self._find_lines(left, right)
        below = int(np.searchsorted(lines, y, "right"))
        if not 0 < below < len(lines) or not MIN_H_PX <= lines[below] - lines[below - 1] <= max_h:
            return None
        top = int(lines[below - 1])
        box = Rect(left, top, right - left, int(lines[below]) - top)
        return box if self._has_sides(box) else None

    def _find_lines(self, left: int, right: int) -> NDArray[np.intp]:
        """Return the rows that are edges up to both corners of [left, right): a row of buttons is no side of a box."""
        found = self._closing.get((left, right))
        if found is None:
            inset = min(3, (right - left) // 8)
            part = self.rows[:, left + inset : right - inset]
            corners = np.flatnonzero(part[:, 3:6].all(axis=1) & part[:, -6:-3].all(axis=1))
            found = self._closing[left, right] = corners[part[corners].mean(axis=1) >= _SHARE]
        return found

    def _has_sides(self, box: Rect) -> bool:
        rows = slice(box.y + 3, max(box.bottom - 3, box.y + 4))
        return all(
            self.columns[rows, max(x - 1, 0) : x + 2].any(axis=1).mean() >= _SHARE
            for x in (box.x, box.right)
            if 0 < x < self.width
        )


_BEFORE_TITLE_PX = 40
"""How far a title may stand from the corner of its frame."""
_DARKEST = 256.0
_SHADE = 2.0
"""What the halves of a flat ground differ by at most; the ground of a button is shaded in many themes."""
_INK = 48.0
_LEAST_TICK = 0.06
_DEEPER = 3.0
"""A field's ground is brighter than a panel's by this at least (in a dark theme darker)."""


def _measure_ink(part: NDArray[np.float64], ground: float) -> float:
    """Return the brightness in `part` that is furthest from `ground`."""
    return float(part.flat[np.abs(part - ground).argmax()]) if part.size else ground


def _holds_letters(box: Rect, inner: Rect) -> bool:
    """Return whether the letters of `inner` (without the detector's rim) are nearly all in `box`."""
    letters = _cut_rim(inner)
    common = box.intersect(letters)
    return common is not None and common.w * common.h >= _SHARE_INSIDE * letters.w * letters.h


_SHARE_INSIDE = 0.85


def _cut_rim(box: Rect) -> Rect:
    """Return `box` without the rim that a detector adds around letters."""
    x, y = min(_RIM_PX, box.w // 4), min(_RIM_PX, box.h // 4)
    return Rect(box.x + x, box.y + y, box.w - 2 * x, box.h - 2 * y)


_RIM_PX = 4
_RIGHT_PX = 420
"""How far to the right of its label a field may begin: forms align their fields in a column."""
_LEAST_SHAPE = 1.5
"""The least width of a field in heights; narrower boxes are buttons with an icon."""
_BELOW_PX = 34
_ALIGNED_PX = 16
_CENTRED_PX = 8
_MARK_MIN_PX, _MARK_MAX_PX = 9, 26
"""The width of a check box's or a radio button's mark."""


class Neighbour(NamedTuple):
    """A field's box, and whether it alone can be meant."""

    box: Rect
    sure: bool


def field_of(label: Rect, texts: Sequence[Rect], edges: Edges, *, is_typed_into: bool = False) -> Neighbour | None:
    """Return the field that `label` names, or None. `texts`: the boxes of all recognised text. `is_typed_into`: a field
    of several lines may be meant; otherwise such a high box is a pane.
    """
    if (frame := edges.frame_with_title(label)) is not None:
        held = _fields_in(frame, label, texts, edges)
        return Neighbour(held[0], sure=True) if len(held) == 1 else None
    right, around, below = (
        _field_right_of(label, texts, edges),
        _field_around(label, texts, edges),
        _field_below(label, texts, edges),
    )
    if below is not None and (held := _fields_in(below, label, texts, edges)):
        below = held[0] if len(held) == 1 else None  # a frame with its title above it
    right, below = (
        None if box and box.h > MAX_H_PX and not (is_typed_into and _is_text_area(label, box, texts, edges)) else box
        for box in (right, below)
    )
    if right is not None and below is not None and below.h > MAX_H_PX >= right.h:
        below = None  # the text of a letter lies below its last line, which has a field of its own
    if around is not None and (right is None or not around.contains(right)):
        if below is None or not _is_strip(around, below):
            return Neighbour(around, sure=True)  # words inside an empty field
        deeper = edges.depth(below, label)
        return Neighbour(below if deeper > _DEEPER else around, sure=abs(deeper) > _DEEPER)
    if right is not None and (below is None or right.x - label.right <= 4 * label.h):
        return Neighbour(right, below is None or _is_level(label, right))
    if below is not None:
        return Neighbour(below, right is None)
    return Neighbour(right, sure=False) if right is not None else None


def _field_right_of(label: Rect, texts: Sequence[Rect], edges: Edges) -> Rect | None:
    """Return the nearest box on the label's row, if no other text is between them."""
    aside = 2 + label.h // 3 * 3  # between the lines that a high box holds
    found = [
        box
        for row in range(label.y - aside, label.bottom + 1 + aside, 3)
        for box in edges.boxes_in_row(row, label.right, edges.width, edges.height)
        if box.x <= label.right + _RIGHT_PX
        and _is_level(label, box)
        and (
            box.h > MAX_H_PX
            or (
                label.y - 2 <= row <= label.bottom + 2
                and box.w >= _LEAST_SHAPE * box.h
                and not _is_button(label, box, texts, edges)
                and not _is_crossed(box, texts)
            )
        )
    ]
    box = min(found, key=lambda one: (one.x, -one.w), default=None)
    if box is None or any(_is_between(label, text, box) for text in texts):
        return None
    return box


def _is_strip(around: Rect, below: Rect) -> bool:
    """Return whether `around` ends where `below` begins: it may be the panel between two fields, with a label on it."""
    is_next = 0 <= below.y - around.bottom <= _SIDE_PX
    return is_next and abs(below.x - around.x) <= _SIDE_PX and abs(below.right - around.right) <= _SIDE_PX


_SIDE_PX = 5
"""The thickness of the adjoining sides of two boxes."""


def _is_level(label: Rect, box: Rect) -> bool:
    return abs((label.y + label.h / 2) - (box.y + box.h / 2)) <= max(6, 0.5 * box.h - 2)


def _is_between(label: Rect, text: Rect, box: Rect) -> bool:
    same_row = min(label.bottom, text.bottom) - max(label.y, text.y) > 0.5 * min(label.h, text.h)
    return same_row and text.x >= label.right - 2 and text.x + text.w / 2 < box.x


def _field_below(label: Rect, texts: Sequence[Rect], edges: Edges) -> Rect | None:
    """Return the nearest box under the label that is aligned with it, or that has only this label above it."""
    left = max(0, label.x - _ALIGNED_PX)
    for row in range(label.bottom + 1, min(edges.height, label.bottom + _BELOW_PX + MAX_H_PX // 2)):
        over = edges.box_at(min(label.x + label.w // 2, edges.width - 1), row, edges.height)
        boxes = edges.boxes_in_row(row, left, edges.width, edges.height)
        for box in boxes if over is None or not is_alone_over(label, over, texts) else (*boxes, over):
            aligned = box is over or abs(box.x - label.x) <= _ALIGNED_PX
            is_near = box.y >= _cut_rim(label).bottom - _RIM_PX and box.y <= label.bottom + _BELOW_PX
            if not aligned or not is_near:
                continue
            if box.h > MAX_H_PX:
                return box
            if box.w >= _LEAST_SHAPE * box.h and not _is_button(label, box, texts, edges):
                return None if _is_crossed(box, texts) else box
    return None


def _fields_in(frame: Rect, label: Rect, texts: Sequence[Rect], edges: Edges) -> list[Rect]:
    """Return the fields in `frame`; twice a single one with its own label, as `label` is not its name."""
    found: list[Rect] = []
    for row in range(frame.y + _SIDE_PX, frame.bottom - _SIDE_PX, 3):
        for box in edges.boxes_in_row(row, frame.x + _FRAME_PX, frame.right - _FRAME_PX, edges.height):
            is_inside = frame.y + _SIDE_PX <= box.y and box.bottom < frame.bottom  # no bevel of the frame
            if (
                is_inside
                and (box.w >= _LEAST_SHAPE * box.h if box.h <= MAX_H_PX else _is_text_area(label, box, texts, edges))
                and all(box.intersect(other) is None for other in found)
                and not _is_button(label, box, texts, edges)
                and edges.depth(box, label) >= -_DEEPER
            ):
                found.append(box)
    if len(found) != 1:
        return found
    inside = [text for text in texts if text != label and frame.holds(text.x + text.w // 2, text.y + text.h // 2)]
    is_named = any(text.right <= found[0].x + _CROSSED_PX or text.bottom <= found[0].y + _CROSSED_PX for text in inside)
    return found * 2 if is_named else found


_FRAME_PX = 3


def _is_text_area(label: Rect, box: Rect, texts: Sequence[Rect], edges: Edges) -> bool:
    """Return whether `box`, higher than one line, is empty or holds only lines of text from its upper left corner on.

    A straight line longer than letters and a caret divides panes, tables and lists.
    """
    held = [text for text in texts if box.holds(text.x + text.w // 2, text.y + text.h // 2)]
    first = min(held, key=lambda text: text.y, default=None)
    if first is not None and max(first.x - box.x, first.y - box.y) > _INDENT * label.h:
        return False
    inside = Rect(box.x + _SIDE_PX, box.y + _SIDE_PX, box.w - 2 * _SIDE_PX, box.h - 2 * _SIDE_PX)
    return box.w >= _LEAST_W * label.h and not edges.is_parted(inside, held, _INDENT * label.h)


_INDENT, _LEAST_W = 2, 4
"""Of a field of several lines, in heights of its label."""


def is_alone_over(label: Rect, box: Rect, texts: Sequence[Rect]) -> bool:
    """Return whether `label` is the only text of its row above `box`."""
    if box.x > label.x + _ALIGNED_PX or label.right > box.right + _ALIGNED_PX:
        return False
    on_row = (text for text in texts if text != label and text.y < label.bottom and label.y < text.bottom)
    return not any(text.x < box.right and box.x < text.right for text in on_row)


def _is_button(label: Rect, box: Rect, texts: Sequence[Rect], edges: Edges) -> bool:
    """Return whether `box` has a text in its middle and no field's ground: text in a field begins at its left."""
    inside = [
        text for text in texts if box.x <= text.x + text.w / 2 < box.right and box.y <= text.y + text.h / 2 < box.bottom
    ]
    if len(inside) != 1:
        return False
    left, right = inside[0].x - box.x, box.right - inside[0].right
    is_apart, depth = left > _FILLED * inside[0].h, edges.depth(box, label)
    if is_apart and depth == -_DARKEST:  # a header: its words leave room for a mark
        return True
    if abs(left - right) > _CENTRED_PX or max(left, right) <= 0:  # a button has a margin around its words
        return False
    return is_apart or depth <= _DEEPER


_FILLED = 0.7
"""How far from the left side of a field its text may begin, in heights of the text."""


def _field_around(label: Rect, texts: Sequence[Rect], edges: Edges) -> Rect | None:
    """Return the field that holds `label` as its hint: it holds no other text, unlike a bar of tools."""
    box = edges.around(label)
    if box is None or box.w < 1.2 * label.w or box.h < 0.9 * _cut_rim(label).h:  # a caret before it makes it higher
        return None
    others = (text for text in texts if text != label and label.intersect(text) is None)
    return None if any(box.holds(text.x + text.w // 2, text.y + text.h // 2) for text in others) else box


def _is_crossed(box: Rect, texts: Sequence[Rect]) -> bool:
    """Return whether a text lies partly in `box`: then its side is a stroke of a letter, or another control's side."""
    for text in map(_cut_rim, texts):
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
    """Return the square, closed mark that begins before `label` or that a detector took into it, as of check boxes and
    radio buttons; None when there is none. An icon before a name is rarely square.
    """
    middle = label.y + label.h // 2
    left, last = max(0, label.x - round(2.2 * label.h)), label.x + _MARK_MIN_PX
    band = edges.columns[max(middle - 2, 0) : middle + 3, left : last + _MARK_MAX_PX].any(axis=0)
    sides = (np.flatnonzero(band) + left).tolist()
    found = [
        mark
        for first in sides if first <= last
        for second in sides if _MARK_MIN_PX <= second - first <= _MARK_MAX_PX
        if (mark := _find_square(first, second, middle, edges)) is not None
        # A round letter looks the same, but the next letter is nearer.
        and (first <= label.x - _MARK_MIN_PX // 2
             or not edges.columns[mark.y : mark.bottom, second + 1 : second + _MARK_GAP_PX].any())
    ]  # fmt: skip
    return min(found, key=lambda one: (-(one.right > label.x - 2 * one.w), abs(one.w - one.h), -one.x), default=None)


_MARK_GAP_PX = 4


def _find_square(left: int, right: int, middle: int, edges: Edges) -> Rect | None:
    """Return the square around row `middle` between two upright edges that edges close above and below."""
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
