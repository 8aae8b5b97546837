"""Where two pictures of one view differ, and how much around it must be read again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from acud.types import Rect

_COLOUR = np.uint32(0x00FFFFFF)  # the three bytes of BGRX that mean something, in a little-endian word
_ROW_GAP_PX = 2
_COLUMN_GAP_PX = 32
"""Changes nearer than this become one box: less than the gap of two rows of text, and about two words apart."""
REACH_X_PX = 24
REACH_Y_PX = 6
"""How far text can reach past a changed pixel and still be found as one line with it."""
_OVERHANG_PX = 2  # letters of one row reach so far into the box of the next
_SHARED_HEIGHT = 0.35
"""A line is searched again if a region covers this part of its height; neighbours in a dense terminal are not."""


def changed_boxes(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> list[Rect]:
    """Return boxes around all pixels in which two height x width x 4 uint8 BGRX pictures of one size differ."""
    flags = ((_pack_pixels(before) ^ _pack_pixels(after)) & _COLOUR) != 0
    return [
        Rect(left, top, right - left, bottom - top)
        for top, bottom in runs(np.asarray(flags.any(axis=1)), _ROW_GAP_PX)
        for left, right in runs(np.asarray(flags[top:bottom].any(axis=0)), _COLUMN_GAP_PX)
    ]


def _pack_pixels(pixels: NDArray[np.uint8]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(pixels).view("<u4")[:, :, 0]


def runs(flags: NDArray[np.bool_], gap: int) -> list[tuple[int, int]]:
    """Return (first, past the last) of each run of set flags; runs at most `gap` apart are one."""
    places = np.flatnonzero(flags)
    if places.size == 0:
        return []
    breaks = np.flatnonzero(np.diff(places) > gap)
    firsts = places[np.concatenate(([0], breaks + 1))]
    lasts = places[np.concatenate((breaks, [places.size - 1]))]
    return [(int(first), int(last) + 1) for first, last in zip(firsts, lasts, strict=True)]


class Plan(NamedTuple):
    """What to search again: `regions`, and by index the known lines that `stand` as they are."""

    regions: list[Rect]
    stand: list[int]


def plan_reading(boxes: Iterable[Rect], lines: Sequence[Rect], bounds: Rect) -> Plan:
    """Return the regions that hold each of the changed `boxes` with its reach sideways, and wholly each changed line.

    A line changed when a changed pixel, or one near its ends, lies in its box; one that a region would cut through is
    taken in as well.
    """
    touched: set[int] = set()
    regions = []
    for box in boxes:
        wide = around(box, REACH_X_PX, 0, bounds)
        # The lines that `wide` lies in; a row of pixels over the edge is the next line's overhang.
        depths = {i: common.h for i, line in enumerate(lines) if (common := wide.intersect(line)) is not None}
        deep = {i for i, depth in depths.items() if depth > _OVERHANG_PX}
        hit = deep or set(depths)
        touched |= hit
        regions.append(reduce(union, (lines[index] for index in hit), wide))
    return _close_plan(_unite_boxes(regions), lines, touched)


def _close_plan(regions: list[Rect], lines: Sequence[Rect], touched: set[int]) -> Plan:
    while True:
        cut = [i for i, line in enumerate(lines) if i not in touched and any(_covers(r, line) for r in regions)]
        if not cut:
            return Plan(regions, [i for i in range(len(lines)) if i not in touched])
        touched.update(cut)
        regions = _unite_boxes([reduce(union, (lines[i] for i in cut if _covers(r, lines[i])), r) for r in regions])


def _covers(region: Rect, line: Rect) -> bool:
    common = region.intersect(line)
    return common is not None and common.h >= _SHARED_HEIGHT * line.h


def _unite_boxes(boxes: list[Rect]) -> list[Rect]:
    apart: list[Rect] = []
    for box in boxes:
        while touching := [other for other in apart if _is_in_reach(box, other)]:
            apart = [other for other in apart if other not in touching]
            box = reduce(union, touching, box)
        apart.append(box)
    return apart


def _is_in_reach(a: Rect, b: Rect) -> bool:
    """Return whether text of one region is within reach of the other, which would find a part of it."""
    return Rect(a.x, a.y - REACH_Y_PX, a.w, a.h + 2 * REACH_Y_PX).intersect(b) is not None


def around(box: Rect, x: int, y: int, bounds: Rect) -> Rect:
    """Return `box` with `x` more on its left and right and `y` more above and below, inside `bounds`."""
    return Rect(box.x - x, box.y - y, box.w + 2 * x, box.h + 2 * y).intersect(bounds) or box


def union(a: Rect, b: Rect) -> Rect:
    """Return the smallest box that holds both boxes."""
    x, y = min(a.x, b.x), min(a.y, b.y)
    return Rect(x, y, max(a.right, b.right) - x, max(a.bottom, b.bottom) - y)


def on_grid(box: Rect, margin: int, grid: int, bounds: Rect) -> Rect:
    """Return `box` with at least `margin` around it, its edges on multiples of `grid` or on those of `bounds`."""
    left, top = (box.x - margin) // grid * grid, (box.y - margin) // grid * grid
    right, bottom = -(-(box.right + margin) // grid) * grid, -(-(box.bottom + margin) // grid) * grid
    return Rect(left, top, right - left, bottom - top).intersect(bounds) or bounds


def apart(boxes: Sequence[Rect]) -> list[Rect]:
    """Return `boxes` with those of rows that overlap a little parted halfway, so that none holds another's letters. A
    detector's boxes reach past their letters; in a dense terminal into the next row.
    """
    parted = list(boxes)
    order = sorted(range(len(boxes)), key=lambda i: boxes[i].y)
    for place, upper in enumerate(order):
        for lower in order[place + 1 :]:
            if boxes[lower].y >= boxes[upper].bottom:
                break
            if _overlap_little(boxes[upper], boxes[lower]):
                middle = (boxes[upper].bottom + boxes[lower].y) // 2
                parted[upper] = _end_at(parted[upper], middle)
                parted[lower] = _begin_at(parted[lower], middle)
    return parted


def _overlap_little(upper: Rect, lower: Rect) -> bool:
    common = upper.intersect(lower)
    return common is not None and 2 * common.h < min(upper.h, lower.h)


def _end_at(box: Rect, bottom: int) -> Rect:
    return Rect(box.x, box.y, box.w, min(box.bottom, bottom) - box.y)


def _begin_at(box: Rect, top: int) -> Rect:
    first = max(box.y, top)
    return Rect(box.x, first, box.w, box.bottom - first)
