"""Where text can be in a picture, how pieces of it are put on canvases of few sizes for a detector, and where a found
line is cut into parts that can be read alone.

Text is many edges close together. Long straight edges are the borders of windows, fields and tables: they are left out,
or a bordered window would be one band as large as itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from acud.evaluator.ocr.changes import around, runs
from acud.evaluator.ocr.engine import Bgr
from acud.pixels.components import find_shapes, long_runs, spread
from acud.types import Rect

EDGE = 12
"""A step of this many of 255 between neighbours is an edge: less than a disabled label's, more than a gradient's."""
_BORDER_PX = 56
"""A straight edge this long is a border: longer than any stroke of a letter, a Chinese one of 48 px included."""
_REACH_X_PX, _REACH_Y_PX = 33, 9
"""Edges nearer than this are one band."""
_LEAST_PX = 3  # bands lower or narrower than this hold no letter: what is left of a border's corner
_ROW_PX, _LEAST_WIDE_X, _LEAST_STROKES = range(5, 21), 1.5, 3
"""A row that a detector may miss: the heights of small letters, its width in heights (a letter of a line that stands on
its side has less), and its strokes with a column between.
"""
_LEAST_ROW_PX, _ROOM_PX, _CELL_PX = 6, 2, 24
"""Of a line of letters, around what is found of it, and of the rules between cells, which would join their lines."""
PART_X = 14
"""A part of a line is so many times as long as high, 672 of the recogniser's pixels: longer only for want of a gap."""
_GAP_X = 0.4  # A gap of so many heights is one between words: more than beside a dot in a monospaced font
_RULE_BEYOND_PX, _RULE_PX, _RULE_SHARE = 4, 3, 0.95
_LEAST_CELLS_X = 2
"""A rule goes so far beyond a line's box, is at most so wide, and differs from its neighbour on so many rows. Narrower
boxes hold no two cells."""
MARGIN_X_PX, MARGIN_Y_PX = 20, 20
"""Around each band: with 12 the detector cut last letters off, and joined Chinese words of one row (measured)."""
ALONE_PX = 12  # around a row that was missed among others: with less the detector cuts it, with more it is not alone


def text_bands(pixels: NDArray[np.uint8]) -> list[Rect]:
    """Return boxes around all that may be text in a height x width x 3 or 4 uint8 picture."""
    height, width = pixels.shape[:2]
    if min(height, width) < _LEAST_PX:
        return []
    boxes = []
    for left, top, wide, high, _ in find_shapes(spread(_find_edges(pixels), _REACH_X_PX, _REACH_Y_PX)).tolist():
        x, y = left + _REACH_X_PX // 2 * (left > 0), top + _REACH_Y_PX // 2 * (top > 0)
        right = left + wide - _REACH_X_PX // 2 * (left + wide < width)
        bottom = top + high - _REACH_Y_PX // 2 * (top + high < height)
        if right - x >= _LEAST_PX and bottom - y >= _LEAST_PX:
            boxes.append(Rect(x, y, right - x, bottom - y))
    return boxes


def unfound_rows(pixels: NDArray[np.uint8], band: Rect, line_pixels: NDArray[np.bool_]) -> list[Rect]:
    """Return the boxes inside `band` of a picture (height x width x 3 or 4 uint8) that look like a row of letters and
    lie in no line, of which `line_pixels` has the pixels: several strokes side by side, as high as small letters.
    """
    if band.h < _ROW_PX[0] or band.w < _ROW_PX[0]:
        return []
    part = np.s_[band.y : band.bottom, band.x : band.right]
    edges = _find_edges(pixels[part]) & ~line_pixels[part]
    return [
        Rect(band.x + left, band.y + top, right - left, bottom - top)
        for top, bottom in runs(np.asarray(edges.any(axis=1)), 1)
        if bottom - top in _ROW_PX
        for left, right in runs(np.asarray(edges[top:bottom].any(axis=0)), _REACH_X_PX)
        if right - left >= _LEAST_WIDE_X * (bottom - top)
        and len(runs(np.asarray(edges[top:bottom, left:right].any(axis=0)), 0)) >= _LEAST_STROKES
    ]


def text_rows(pixels: NDArray[np.uint8]) -> list[Rect]:
    """Return boxes of the lines in a part that holds text, cut repeatedly at empty rows and at gaps of two heights."""
    edges = _find_edges(pixels, _CELL_PX)
    whole = Rect(0, 0, pixels.shape[1], pixels.shape[0])
    left, found = [whole], []
    while left:
        box = left.pop()
        here = edges[box.y : box.bottom, box.x : box.right]
        parts = [
            Rect(box.x + x, box.y + top, right - x, bottom - top)
            for top, bottom in runs(np.asarray(here.any(axis=1)), 1)
            for x, right in runs(np.asarray(here[top:bottom].any(axis=0)), 2 * (bottom - top))
        ]
        if parts != [box]:
            left += parts
        elif box.h >= _LEAST_ROW_PX:
            found.append(around(box, _ROOM_PX, _ROOM_PX, whole))
    return found


def line_parts(pixels: NDArray[np.uint8]) -> list[Rect]:
    """Return the parts in which a line (height x width x 3 or 4 uint8) can be read, from left to right.

    It is cut in the middle of the last gap between words at which a part is no longer than `PART_X` heights and no
    shorter than a third of that; where there is none, at the next gap. A line that grows keeps its cuts.
    """
    height, width = pixels.shape[:2]
    most, least = int(PART_X * height), int(PART_X * height / 3)
    if width <= most:
        return [Rect(0, 0, width, height)]
    gaps = [(right + left) // 2 for (_, right), (left, _) in pairwise(word_spans(pixels))]
    parts, left = [], 0
    while width - left > most:
        near = [gap for gap in gaps if left + least < gap <= left + most]
        cut = near[-1] if near else next((gap for gap in gaps if gap > left + most), None)
        if cut is None:
            break
        parts.append(Rect(left, 0, cut - left, height))
        left = cut
    return [*parts, Rect(left, 0, width - left, height)]


def word_spans(line: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """Return the columns (first, past the last) of each word of a line (height x width x 3 or 4 uint8)."""
    return runs(ink_columns(line), math.ceil(_GAP_X * line.shape[0]))


def glyph_widths(line: NDArray[np.uint8]) -> list[int]:
    """Return the widths of what stands apart in a line (height x width x 3 or 4 uint8), by a column or more."""
    return [right - left for left, right in runs(ink_columns(line), 1)]


def ink_columns(line: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which columns of a line (height x width x 3 or 4 uint8) have an edge of a letter."""
    return np.asarray(_find_edges(line).any(axis=0))


def cells(pixels: NDArray[np.uint8], box: Rect) -> list[Rect]:
    """Return the parts of a line's `box` between the upright rules of a table in `pixels` (height x width x 3 or 4
    uint8). A rule passes through the whole box and beyond; a text cursor does not.
    """
    top, bottom = box.y - _RULE_BEYOND_PX, box.bottom + _RULE_BEYOND_PX
    if box.w < _LEAST_CELLS_X * box.h or top < 0 or bottom > pixels.shape[0]:
        return [box]
    strip = pixels[top:bottom, box.x : box.right, :3].astype(np.int16)
    edges = np.abs(np.diff(strip, axis=1)).max(axis=2) > EDGE
    rules = runs(np.asarray(edges.mean(axis=0) >= _RULE_SHARE), _RULE_PX)
    inner = [(left + 1, right) for left, right in rules if left > _RULE_PX and right + _RULE_PX < box.w]
    if not inner:
        return [box]
    starts, ends = [0, *(right for _, right in inner)], [*(left for left, _ in inner), box.w]
    parts = [Rect(box.x + x, box.y, right - x, box.h) for x, right in zip(starts, ends, strict=True)]
    return [
        part
        for part in parts
        if part.w >= _LEAST_PX and _find_edges(pixels[part.y : part.bottom, part.x : part.right]).any()
    ]


class TextExtent(NamedTuple):
    """Around all edges of a row of text: the `box` in its pixels, and the widest `gap` between two columns of them."""

    box: Rect
    gap: int


def text_extent(row: NDArray[np.uint8]) -> TextExtent | None:
    """Return the extent of what is written in a row (height x width x 3 or 4 uint8); None where nothing is."""
    edges = _find_edges(row)
    columns, rows = np.flatnonzero(edges.any(axis=0)), np.flatnonzero(edges.any(axis=1))
    if not columns.size:
        return None
    x, y = int(columns[0]), int(rows[0])
    box = Rect(x, y, int(columns[-1]) + 1 - x, int(rows[-1]) + 1 - y)
    return TextExtent(box, int(np.diff(columns).max(initial=1)) - 1)


def _find_edges(pixels: NDArray[np.uint8], border_px: int = _BORDER_PX) -> NDArray[np.bool_]:
    """Return where a pixel differs from its neighbour on the right or below, and no border so long runs."""
    across = np.zeros(pixels.shape[:2], np.bool_)
    down = np.zeros(pixels.shape[:2], np.bool_)
    across[:, 1:] = _differ_visibly(pixels[:, 1:], pixels[:, :-1])
    down[1:] = _differ_visibly(pixels[1:], pixels[:-1])
    upright = long_runs(across, border_px, axis=0)
    return (across & ~upright) | (down & ~long_runs(down, border_px, axis=1))


def _differ_visibly(pixels: NDArray[np.uint8], others: NDArray[np.uint8]) -> NDArray[np.bool_]:
    steps = np.maximum(pixels, others)
    steps -= np.minimum(pixels, others)
    # Four times as fast as `max` over the last axis.
    return np.asarray(np.maximum(np.maximum(steps[:, :, 0], steps[:, :, 1]), steps[:, :, 2]) > EDGE)


class Place(NamedTuple):
    """Where a part lies: on which canvas, and at which of its pixels."""

    canvas: int
    x: int
    y: int


class Packing(NamedTuple):
    """`sizes`: height and width of each canvas. `places`: of each part, in order."""

    sizes: list[tuple[int, int]]
    places: list[Place]


HEIGHTS = (64, 128, 224)
WIDTHS = (480, 800, 1280, 2560)
"""Of canvases, multiples of the detector's 32. The largest decides what the detector's layers take, and each pair that
occurs costs memory for good: with up to 640 x 2560 in 20 sizes a process took 190 MB more at the same speed (measured).
"""
_BETWEEN_PX = 16


def pack(parts: Sequence[tuple[int, int]]) -> Packing:
    """Return how parts of (height, width), none larger than the largest canvas, lie on canvases: shelf by shelf."""
    widest = max((width for _, width in parts), default=0)
    area = sum((height + _BETWEEN_PX) * (width + _BETWEEN_PX) for height, width in parts)
    wide = next(w for w in WIDTHS if w >= widest and (w == WIDTHS[-1] or area <= w * HEIGHTS[1]))
    extents: list[list[int]] = []
    places: list[Place] = [Place(0, 0, 0)] * len(parts)
    shelves: list[list[int]] = []  # canvas, top, height, next x
    for index in sorted(range(len(parts)), key=lambda i: (-parts[i][0], -parts[i][1])):
        height, width = parts[index]
        shelf = next((s for s in shelves if s[2] >= height and s[3] + width <= wide), None)
        if shelf is None:
            canvas = next((n for n, extent in enumerate(extents) if extent[0] + height <= HEIGHTS[-1]), len(extents))
            if canvas == len(extents):
                extents.append([0, 0])
            shelf = [canvas, extents[canvas][0], height, 0]
            shelves.append(shelf)
            extents[canvas][0] += height + _BETWEEN_PX
        places[index] = Place(shelf[0], shelf[3], shelf[1])
        shelf[3] += width + _BETWEEN_PX
        extents[shelf[0]][1] = max(extents[shelf[0]][1], shelf[3])
    sizes = [(_least(HEIGHTS, high - _BETWEEN_PX), _least(WIDTHS, right - _BETWEEN_PX)) for high, right in extents]
    return Packing(sizes, places)


def _least(sizes: Sequence[int], side: int) -> int:
    return next(size for size in sizes if size >= side)


def fill(packing: Packing, parts: Sequence[Bgr]) -> list[Bgr]:
    """Return the canvases with the parts on them, each part's last row and column repeated up to the next part."""
    canvases = [np.full((*size, 3), 128, np.uint8) for size in packing.sizes]
    for part, place in zip(parts, packing.places, strict=True):
        canvas = canvases[place.canvas]
        bottom = min(canvas.shape[0], place.y + part.shape[0] + _BETWEEN_PX)
        right = min(canvas.shape[1], place.x + part.shape[1] + _BETWEEN_PX)
        beyond = ((0, bottom - place.y - part.shape[0]), (0, right - place.x - part.shape[1]), (0, 0))
        canvas[place.y : bottom, place.x : right] = np.pad(part, beyond, mode="edge")
    return canvases


def mask_parts(packing: Packing, parts: Sequence[tuple[int, int]]) -> list[NDArray[np.bool_]]:
    """Return which pixels of each canvas show a part, of (height, width) each."""
    masks = [np.zeros(size, np.bool_) for size in packing.sizes]
    for (height, width), place in zip(parts, packing.places, strict=True):
        masks[place.canvas][place.y : place.y + height, place.x : place.x + width] = True
    return masks
