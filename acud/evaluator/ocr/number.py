"""Does a number on the screen compare as asked? It stands in the cell, row or card of its label: after it, beside it,
below it or, as in many cards, above it.

A number beside or below belongs to the label only where no other label is between or nearer, and no line or edge parts
them. One to the left may also number the rows (1, 2, 3) or name them, as ids do. Where that leaves two numbers, or a
column of them, it is not certain which is meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import isclose
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from acud.evaluator.ocr.changes import union
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.match import letters_close
from acud.evaluator.ocr.text_layout import EDGE, INK, are_beside, level_edges, steps
from acud.types import NumberSeen, Rect, ScreenNumber, Verdict, WindowInfo, numbers_in, window_at
from acud.waits.read_text import (
    LabelPlace,
    find_label_places,
    has_leading_number,
    is_number,
    judge_only_number,
    judge_places,
    normalise_text,
    read_leading_number,
)

_MOST_BELOW, _MOST_ABOVE = 2.5, 1.0
"""Heights of the label between it and a number below or above it."""
_NEAR, _FAR = 8.0, 30.0
"""Heights of the label to a number beside it: with other texts around, and in a table or on one surface."""
_BADGE = 2.0  # heights of the label to a number on its left that stands in no table
_ALIGNED = 0.6  # heights by which the cells of a column may be out of line
_EVEN = 0.15  # share by which the steps of an axis, or of rows of which some were not read, differ for their distance
_NEARER = 0.6  # A gap is surely the smaller of two when it is this part of the other
_TALLER = 1.2  # the figure of a card is set so much larger than its label; that of a table is not
_OWN_BOX = 2.8  # an entry, a badge or a cell of a table around a number is at most this high, in heights of the number
_THROUGH = 0.9  # of a box: what runs through so much of it is a line or an edge
_BETWEEN_PX = 6
"""Rows between the edges of two cells of a table: the border of each, and the space of 2 px between them."""


_BARS_PX = 140  # tabs, a toolbar and the address bar of a browser are no higher than this, also at a scale of 1.5
_ADDRESS = re.compile(
    r"\W{0,4}(?:(?:https?|file|ftp|about|chrome|view-source) ?: ?/*\S|localhost\b(?:[:/]|$)"
    r"|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?::\d+)?/"
    r"|(?:\d{1,3}\.){3}\d{1,3}[:/]|/(?:[\w.-]+/)+[\w.-]+(?:[?#]|$)|(?:[a-z\d-]+\.)+[a-z]{2,}$)",
    re.IGNORECASE,
)


class _NumberCell(NamedTuple):
    seen: NumberSeen
    box: Rect


def look_for_number(
    lines: Sequence[Line], leaf: ScreenNumber, min_confidence: float, at: Rect, pixels: NDArray[np.uint8] | None = None
) -> Verdict:
    """Return the verdict on `leaf` over the `lines` of a view that lies at `at` in its source. The lines are cut where
    columns part. `pixels` (height x width x 4 uint8): of the view, where edges are looked for.
    """
    cells = [replace(line, text=normalise_text(line.text)) for line in lines if line.confidence >= min_confidence]
    if not leaf.label:
        boxes = [cell.box for cell in cells]
        return judge_only_number(leaf, [cell.text for cell in cells], lambda n: _describe_place(boxes[n], at), boxes)
    layout = _Layout(leaf, cells, pixels)
    return judge_places(leaf, [found for cell in cells for found in _list_places(leaf, cell, layout, at)])


def _list_places(leaf: ScreenNumber, cell: Line, layout: _Layout, at: Rect) -> list[LabelPlace]:
    found: list[LabelPlace] = []
    for place in find_label_places(leaf, cell.text, letters_close):
        own = [_NumberCell(place.number, cell.box)] if place.number is not None else []
        if place.leads and layout.is_in_sequence(cell):
            own, place = [], replace(place, number=None)
        others = (layout.beside(cell) if place.leads else layout.numbers_of(cell)) if place.ends else []
        candidates = [*own, *others]
        found += [_with_place(place, one, cell.box, at) for one in candidates] or [_with_hint(place, cell, layout, at)]
    return found


def _with_hint(place: LabelPlace, cell: Line, layout: _Layout, at: Rect) -> LabelPlace:
    """Return `place`, which lacks its number, with the region of a number nearby that may be meant."""
    near = layout.number_near(cell) if place.ends else None
    return place if near is None else replace(place, region=_format_region(near.shift(at.x, at.y)))


def _with_place(place: LabelPlace, number: _NumberCell, label: Rect, at: Rect) -> LabelPlace:
    region = _format_region(union(label, number.box).shift(at.x, at.y))
    return replace(place, number=number.seen, where=_describe_place(number.box, at), region=region, box=number.box)


def _format_region(box: Rect) -> str:
    return f"region:{box.x},{box.y},{box.w},{box.h}"


def outside_bars(cells: Sequence[Line], windows: Sequence[WindowInfo]) -> list[Line]:
    """Return the cells that stand in no title bar of `windows` (topmost first, in the view's pixels), and in no tabs,
    toolbar or address bar of a browser: those are above and beside an address at the top of a window.
    """
    owners = [window_at(windows, *_middle_of(cell.box)) for cell in cells]
    ends: dict[int, int] = {}
    for cell, owner in zip(cells, owners, strict=True):
        if owner is not None and cell.box.y < owner.bounds.y + _BARS_PX and _ADDRESS.match(cell.text):
            ends[owner.window_id] = max(cell.box.y + cell.box.h // 2, ends.get(owner.window_id, 0))
    return [
        cell for cell, owner in zip(cells, owners, strict=True)
        if owner is None
        or (owner.bounds.holds(*_middle_of(cell.box)) and cell.box.y >= ends.get(owner.window_id, owner.bounds.y))
    ]  # fmt: skip


def _middle_of(box: Rect) -> tuple[int, int]:
    return box.x + box.w // 2, box.y + box.h // 2


class _Layout:
    """The cells of a view, and which number of it is that of a label."""

    def __init__(self, leaf: ScreenNumber, cells: Sequence[Line], pixels: NDArray[np.uint8] | None) -> None:
        self._cells = cells
        self._number = partial(read_leading_number, leaf)
        self._edges = None if pixels is None else _Edges(pixels)

    def numbers_of(self, label: Line) -> list[_NumberCell]:
        """Return the number that belongs to a label which ends its cell; several where that is not certain."""
        leading, right = self._find_leading(label), self.beside(label)
        left = [leading] if leading is not None and self._is_counted(leading, label) else []
        if right:
            has_leading = leading is not None or self._has_unread_before(label)
            return left if has_leading and self._belongs_to_next_label(label, right[0]) else [*left, *right]
        return [*left, *self._in_column_of(label)]

    def is_in_sequence(self, cell: Line) -> bool:
        """Return whether the numbers that begin `cell` and its neighbours above and below go up in equal steps, as row
        numbers and the marks of an axis do; of two alone: by one.
        """
        near = sorted(self._column_of_figures(cell), key=lambda one: one.box.y)
        first = max(0, min(near.index(cell) - 2, len(near) - 5))
        return _are_in_steps([(one.box.y, _first_value(one)) for one in near[first : first + 5]])

    def _column_of_figures(self, cell: Line) -> list[Line]:
        return [one for one in self._cells if one is cell or (has_leading_number(one.text) and _is_aligned(one, cell))]

    def _find_leading(self, label: Line) -> _NumberCell | None:
        """Return the number left of a label, unless it belongs to another label."""
        cell = self._previous_in_row(label)
        seen = self._number(cell.text) if cell is not None and is_number(cell.text) else None
        if cell is None or seen is None or seen.counts_else:
            return None
        gap = label.box.x - cell.box.right
        in_table = self._in_table(label, cell)
        is_parted = self._edges is not None and self._edges.part_columns(cell.box, label.box, cell.box)
        if gap > (_FAR if in_table else _BADGE) * label.box.h or (is_parted and not in_table):
            return None
        before = self._previous_in_row(cell)
        if before is not None and any(one.box == cell.box for one in self.beside(before)):
            is_nearer = gap <= _NEARER * (cell.box.x - before.box.right)
            if not is_nearer or self._in_table(before, cell) or self._find_leading(before) is None:
                return None
        return _NumberCell(seen, cell.box)

    def _belongs_to_next_label(self, label: Line, number: _NumberCell) -> bool:
        """Return whether the number right of a label, which has one on its left as well, leads the next label: "12 Open
        3 Closed".
        """
        cell = self._cell_of(number)
        after = self._next_in_row(cell)
        if after is None or is_number(after.text) or self._in_table(label, cell):
            return False
        return after.box.x - cell.box.right <= _NEARER * (cell.box.x - label.box.right)

    def _is_counted(self, number: _NumberCell, label: Line) -> bool:
        """Return whether the number left of a label counts it: it is no row's number and, under a heading, no row's
        name (a bare number above zero that no other row has).
        """
        cell = self._cell_of(number)
        row = [one for one in self._cells if are_beside(one.box, cell.box) and is_number(one.text)]
        steps_in_row = _are_in_steps(sorted((one.box.x, _first_value(one)) for one in row), evenly=False)
        if self.is_in_sequence(cell) or (steps_in_row and not self._in_table(label, cell)):
            return False
        column = self._column_of_figures(cell)
        values = [_first_value(one) for one in column]
        is_name = len({*values}) == len(values) and all(one.text.isdecimal() and int(one.text) for one in column)
        return not (is_name and self._has_heading(min(column, key=lambda one: one.box.y), label))

    def _has_heading(self, top: Line, label: Line) -> bool:
        """Return whether the row above the first of a column of numbers has a text over them or over their labels, and
        another beside it.
        """
        most = _MOST_BELOW * top.box.h
        over = [one for one in self._cells if one.box.y < top.box.y and self._gap_y(one, top) <= most]
        return any(
            not has_leading_number(one.text)
            and (_is_aligned(one, top) or _is_aligned(one, label))
            and any(are_beside(one.box, other.box) for other in over if other is not one)
            for one in over
        )

    def _in_column_of(self, label: Line) -> list[_NumberCell]:
        """Return the number below or above a label, or both where that is not certain."""
        below, above = self._find_below(label), self._find_above(label)
        if len(below) == 1 and above is not None:
            height = 0.3 * label.box.h
            down = max(0, below[0].box.y - label.box.bottom) + height
            up = max(0, label.box.y - above.box.bottom) + height
            if up <= _NEARER * down:
                return [above]
            return below if down <= _NEARER * up else [*below, above]
        if len(below) == 1 and self._is_over_next_label(label, below[0]) and self._has_unread_above(label):
            return []
        return below or ([above] if above is not None else [])

    def _is_over_next_label(self, label: Line, number: _NumberCell) -> bool:
        under = self._find_nearest_cell(self._cell_of(number), below=True)
        up = number.box.y - label.box.bottom
        return under is not None and not is_number(under.text) and under.box.y - number.box.bottom <= _NEARER * up

    def _has_unread_before(self, label: Line) -> bool:
        """Return whether something that was not read stands where a label's number would, left of it."""
        reach = round(_BADGE * label.box.h)
        return self._is_unread(Rect(label.box.x - reach, label.box.y, reach - 1, label.box.h))

    def _has_unread_above(self, label: Line) -> bool:
        reach = round((_MOST_ABOVE + _TALLER) * label.box.h)
        return self._is_unread(Rect(label.box.x, label.box.y - reach, label.box.w, reach - 1))

    def _is_unread(self, box: Rect) -> bool:
        is_free = not any(one.box.intersect(box) for one in self._cells)
        return is_free and self._edges is not None and self._edges.has_ink(box)

    def _cell_of(self, number: _NumberCell) -> Line:
        return next(one for one in self._cells if one.box == number.box)

    def number_near(self, label: Line) -> Rect | None:
        """Return the box of the nearest number in the label's row or below it."""
        box = label.box
        near = [
            one.box for one in self._cells
            if self._number(one.text) is not None
            and (are_beside(one.box, box) or (0 <= one.box.y - box.y <= _NEAR * box.h and one.box.right > box.x))
            and max(one.box.x - box.right, box.x - one.box.right) <= _FAR * box.h
        ]  # fmt: skip
        return min(
            near, key=lambda one: abs(one.y - box.y) + max(0, one.x - box.right, box.x - one.right), default=None
        )

    def beside(self, label: Line) -> list[_NumberCell]:
        """Return the number right of the label; in a table with those of its unit in the columns after it."""
        cell = self._next_in_row(label)
        seen = self._number(cell.text) if cell is not None else None
        if cell is None or seen is None:
            return []
        found = _NumberCell(seen, cell.box)
        gap = (cell.box.x - label.box.right) / label.box.h
        in_table = self._in_table(label, cell)
        if in_table and gap <= _FAR:
            return [found, *(one for one in self._in_further_columns(cell) if one.seen.unit == seen.unit)]
        is_parted = self._edges is not None and self._edges.part_columns(label.box, cell.box, cell.box)
        is_named = any(
            not has_leading_number(other.text) and self._gap_y(other, cell) <= cell.box.h
            for other in self._in_column(cell)
            if other is not label
        )
        most = _NEAR if self._edges is None or is_named else _FAR
        return [] if is_parted or gap > most or (is_named and gap > 2) else [found]

    def _in_further_columns(self, cell: Line) -> list[_NumberCell]:
        """Return the numbers that follow `cell` in its row, each in a column: a cell above or below is aligned."""
        found: list[_NumberCell] = []
        after = self._next_in_row(cell)
        while after is not None and (seen := self._number(after.text)) is not None:
            near = [one for one in self._cells if self._gap_y(one, after) <= _MOST_BELOW * after.box.h]
            if not any(_is_aligned(one, after) for one in near):
                break
            found.append(_NumberCell(seen, after.box))
            after = self._next_in_row(after)
        return found

    def _in_table(self, label: Line, number: Line) -> bool:
        """Return whether the row above or below has a text in the label's column and beside it a number (above: or a
        heading) in the number's.
        """
        step = self._next_in_row if number.box.x > label.box.x else self._previous_in_row
        for one in self._cells:
            is_near = self._gap_y(one, label) <= _MOST_BELOW * label.box.h
            if one is label or is_number(one.text) or not is_near or not _is_aligned(one, label):
                continue
            other = step(one)
            if other is None or not _is_aligned(other, number):
                continue
            if has_leading_number(other.text) or one.box.bottom <= label.box.y + label.box.h // 2:
                return True
        return False

    def _find_below(self, label: Line) -> list[_NumberCell]:
        cell = self._find_nearest_cell(label, below=True)
        seen = self._number(cell.text) if cell is not None else None
        if cell is None or seen is None or not self._is_own_column(label, cell):
            return []
        found = [_NumberCell(seen, cell.box)]
        after = self._find_nearest_cell(cell, below=True)
        while after is not None and is_number(after.text) and _is_as_tall(after, cell):
            other = self._number(after.text)
            found += [_NumberCell(other, after.box)] if other is not None else []
            after = self._find_nearest_cell(after, below=True)
        return found

    def _is_own_column(self, label: Line, number: Line) -> bool:
        """Return whether a number below is of the label, not the first cell of the next row: nothing stands beside the
        label, or what does has its number below as well, or the number is set as a figure.
        """
        beside = self._next_in_row(label)
        if beside is None or number.box.h >= _TALLER * label.box.h:
            return True
        under = self._find_nearest_cell(beside, below=True)
        return under is not None and is_number(under.text)

    def _find_above(self, label: Line) -> _NumberCell | None:
        cell = self._find_nearest_cell(label, below=False)
        seen = self._number(cell.text) if cell is not None and is_number(cell.text) else None
        if cell is None or seen is None or seen.counts_else:
            return None
        if cell.box.h < _TALLER * label.box.h and self._has_own_label(cell):
            return None
        in_row = self._next_in_row(label)
        over = self._find_nearest_cell(in_row, below=False) if in_row is not None else None
        is_figure = cell.box.h >= _TALLER * label.box.h or in_row is None or (over is not None and is_number(over.text))
        return _NumberCell(seen, cell.box) if is_figure else None

    def _has_own_label(self, number: Line) -> bool:
        """Return whether the text above a number is its label: none above that has its number above."""
        label = self._find_nearest_cell(number, below=False)
        return label is not None and not is_number(label.text) and self._find_above(label) is None

    def _find_nearest_cell(self, cell: Line, *, below: bool) -> Line | None:
        """Return the nearest cell below or above in its column; None where it is far, parted, or one of several."""
        most = (_MOST_BELOW if below else _MOST_ABOVE) * cell.box.h
        over = [
            one for one in self._in_column(cell)
            if (one.box.y > cell.box.y) is below and self._gap_y(one, cell) <= most
        ]  # fmt: skip
        if not over:
            return None
        first = min(over, key=lambda one: self._gap_y(one, cell))
        row = [one for one in over if are_beside(one.box, first.box)]
        parted = self._edges is not None and self._edges.part_rows(*((cell, first) if below else (first, cell)))
        return None if len(row) > 1 or parted else first

    def _in_column(self, cell: Line) -> list[Line]:
        box = cell.box
        return [
            one for one in self._cells
            if 4 * (min(box.right, one.box.right) - max(box.x, one.box.x)) > min(box.w, one.box.w)
            and not are_beside(one.box, box)
        ]  # fmt: skip

    def _next_in_row(self, cell: Line) -> Line | None:
        right = [
            one for one in self._cells if one.box.x > cell.box.x + cell.box.w // 2 and are_beside(one.box, cell.box)
        ]
        return min(right, key=lambda one: one.box.x, default=None)

    def _previous_in_row(self, cell: Line) -> Line | None:
        left = [
            one for one in self._cells
            if one.box.x + one.box.w // 2 < cell.box.x and are_beside(one.box, cell.box)
        ]  # fmt: skip
        return max(left, key=lambda one: one.box.right, default=None)

    def _gap_y(self, one: Line, other: Line) -> int:
        return max(one.box.y, other.box.y) - min(one.box.bottom, other.box.bottom)


class _Edges:
    """Lines and edges of surfaces in a picture (height x width x 4 uint8)."""

    def __init__(self, pixels: NDArray[np.uint8]) -> None:
        self._pixels = pixels

    def part_columns(self, left: Rect, right: Rect, number: Rect) -> bool:
        """Return whether an upright edge, higher than a box around the `number` of the two, stands between."""
        reach = number.h
        middle = number.y + number.h // 2
        part = self._cut_part(left.right, middle - reach, right.x + 1, middle + reach)
        return part.shape[1] > 1 and bool((steps(part, 1) > EDGE).mean(axis=0).max(initial=0.0) > 0.8)

    def part_rows(self, upper: Line, lower: Line) -> bool:
        """Return whether a level edge runs between the two, other than that of the box around one of them."""
        left, right = min(upper.box.x, lower.box.x), max(upper.box.right, lower.box.right)
        top, bottom = upper.box.y + upper.box.h // 2, lower.box.y + lower.box.h // 2
        rows = level_edges(self._pixels, left, top, right, bottom)
        number = upper.box if is_number(upper.text) else lower.box
        around = round(_OWN_BOX * number.h)
        middle = number.y + number.h // 2
        beyond = (bottom, middle + around) if number is lower.box else (middle - around, top)
        others = level_edges(self._pixels, number.x, beyond[0], number.right, beyond[1])
        is_boxed = any(abs(one - row) <= around for row in rows for one in others)
        return bool(rows) and not (is_boxed and max(rows) - min(rows) <= _BETWEEN_PX)

    def has_ink(self, box: Rect) -> bool:
        """Return whether anything but lines through all of `box` differs from its ground."""
        part = self._cut_part(box.x, box.y, box.right, box.bottom)
        if not part.size:
            return False
        ink = np.abs(part - np.median(part, axis=(0, 1))).max(axis=2) > INK
        return bool(ink[ink.mean(axis=1) < _THROUGH][:, ink.mean(axis=0) < _THROUGH].any())

    def _cut_part(self, left: int, top: int, right: int, bottom: int) -> NDArray[np.int16]:
        return self._pixels[max(0, top) : max(0, bottom), max(0, left) : max(0, right), :3].astype(np.int16)


def _first_value(cell: Line) -> float:
    return next(numbers_in(cell.text)).values[0]


def _are_in_steps(marks: Sequence[tuple[int, float]], *, evenly: bool = True) -> bool:
    """Return whether values go on in equal steps, or `evenly` with their places; two alone: up by one."""
    pairs = [(after[0] - before[0], after[1] - before[1]) for before, after in pairwise(marks)]
    if len(pairs) < 2:
        return [step for _, step in pairs] == [1.0]
    gap, first = pairs[0]
    are_even = evenly and all(abs(step * gap - first * px) <= _EVEN * abs(first * px) for px, step in pairs)
    return first != 0 and (are_even or all(isclose(step, first, rel_tol=1e-6) for _, step in pairs))


def _is_aligned(a: Line, b: Line) -> bool:
    most = _ALIGNED * min(a.box.h, b.box.h)
    middles = abs(a.box.x + a.box.right - b.box.x - b.box.right) / 2
    return min(abs(a.box.x - b.box.x), abs(a.box.right - b.box.right), middles) <= most and not are_beside(a.box, b.box)


def _is_as_tall(a: Line, b: Line) -> bool:
    return max(a.box.h, b.box.h) <= 1.4 * min(a.box.h, b.box.h)


def _describe_place(box: Rect, at: Rect) -> str:
    moved = box.shift(at.x, at.y)
    return f" at {moved.x},{moved.y} ({moved.w}x{moved.h})"
