"""What an icon means by its shape alone: the directions of its outline, compared with pictures of known names.

An icon's ink is how far each pixel is from the icon's ground, whatever the colours. It is cut out, drawn into a small
square, and described by histograms of the directions of its edges in overlapping cells (HOG). What most icons have in
common is taken off (whitening), so that an angle in an unusual place counts more than an upright edge. The templates
are drawn at the first search by shape; that takes seconds, so callers run it in a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from acud.features.grounding.evaluator.icon_sets import IconDrawing, drawings
from acud.pixels.components import find_shapes, number_shapes, spread
from acud.pixels.filters import resize
from acud.types import Rect

_SIDE, _RIM = 32, 3
_CELL = 4
_DIRECTIONS = 8
_DIMENSIONS = 200
_LEAST_SPREAD = 0.3
"""Of the mean spread of a dimension: what is added before it is divided by, so that noise is not blown up."""
_INK = 0.25
"""Of the strongest difference from the ground: what is fainter is a shadow."""
_LEAST_INK = 40
"""The least difference from the ground, of 255, that an icon is drawn with."""
LIKE = 0.35
"""The least likeness of an icon to a template that gives it a meaning (`scripts/bench icons`)."""
SURE = 0.5
"""The likeness from which the shape alone is enough (`scripts/bench icons`)."""
MARGIN = 0.02
"""Meanings with a best template at most this far behind are possible too."""
_MOST_PX = 96
_PLATE = 0.7
"""A silhouette that covers so much of its box may be a plate, with an icon of another colour on it."""
_LINE_PX = 3

Ink = NDArray[np.float32]
Outline = NDArray[np.float32]


class IconTemplates(NamedTuple):
    """`rows`: whitened outlines of the templates, each of `meanings` from its `firsts` on. `middle`, `axes` whiten."""

    meanings: list[str]
    firsts: NDArray[np.intp]
    rows: NDArray[np.float32]
    middle: NDArray[np.float32]
    axes: NDArray[np.float32]

    def likenesses(self, outlines: Sequence[Outline]) -> NDArray[np.float32]:
        """Return for each outline and each meaning how like (-1 to 1) the nearest template is."""
        asked = _normalise_rows(((np.array(outlines, np.float32) - self.middle) @ self.axes).astype(np.float32))
        found: NDArray[np.float32] = np.maximum.reduceat(asked @ self.rows.T, self.firsts, axis=1)
        return found


def shape_meanings(pixels: NDArray[np.uint8], box: Rect) -> Mapping[str, float]:
    """Return the possible meanings of the icon in `box` of `pixels` (height x width x 4 uint8 BGRX) by its shape, each
    with the likeness of its nearest template; usually one or none, several where templates are about as like.
    """
    return shapes_meanings(pixels, [box])[0]


def shapes_meanings(pixels: NDArray[np.uint8], boxes: Sequence[Rect]) -> list[Mapping[str, float]]:
    seen = [(at, outline_of(ink)) for at, box in enumerate(boxes) for ink in inks(pixels, box)]
    told = [(at, outline) for at, outline in seen if outline is not None]
    found: list[Mapping[str, float]] = [{} for _ in boxes]
    if not told:
        return found
    templates = icon_templates()
    for (at, _), likes in zip(told, templates.likenesses([outline for _, outline in told]), strict=True):
        best = float(likes.max())
        # The second ink of a box is the drawing on a plate: if that has a meaning, the plate does not count.
        if best >= LIKE and (best >= SURE or best > max(found[at].values(), default=0.0)):
            near = np.flatnonzero(likes >= max(LIKE, best - MARGIN))
            found[at] = {templates.meanings[one]: min(float(likes[one]), 1.0) for one in near}
    return found


def inks(pixels: NDArray[np.uint8], box: Rect) -> list[Ink]:
    """Return the ink (0 to 1) of the icon in the middle of `box`: against the ground and, if it is a plate, against the
    plate. Empty when nothing there has an icon's size.
    """
    part = pixels[max(box.y, 0) : max(box.bottom, 0), max(box.x, 0) : max(box.right, 0), :3].astype(np.float32)
    if min(part.shape[:2]) < 8:
        return []
    inset = [min(3, (size - 8) // 4) for size in part.shape[:2]]
    inner = part[inset[0] : part.shape[0] - inset[0], inset[1] : part.shape[1] - inset[1]]
    ink = _measure_ink(inner, np.concatenate((inner[0], inner[-1], inner[:, 0], inner[:, -1])))
    if ink is None:
        return []
    found = [_remove_rim(ink)]
    cut = _find_extent(ink)
    if cut is not None and (ink[cut] > _INK).mean() >= _PLATE:
        on_plate = _plate_ink(inner[cut], ink[cut])
        if on_plate is not None:
            found.append(on_plate)
    return found


def _plate_ink(part: NDArray[np.float32], ink: Ink) -> Ink | None:
    """Return the ink of the drawing on a plate, without the plate's rim and the ground outside round corners."""
    outside = number_shapes(np.pad(ink <= _INK, 1, constant_values=True), corners=False)
    beyond = spread(outside == outside[0, 0], 5, 5)[1:-1, 1:-1]
    middle = part[~beyond]
    if len(middle) < _LEAST_PLATE:
        return None
    drawn = _measure_ink(part, middle)
    if drawn is None:
        return None
    drawn[beyond] = 0
    return drawn


_LEAST_PLATE = 64
"""Pixels of a plate that something can be drawn on."""


def _measure_ink(part: NDArray[np.float32], around: NDArray[np.float32]) -> Ink | None:
    """Return how far `part` is from the middle colour of `around`, 0 to 1; None where nothing stands out."""
    ground = np.sort(around, axis=0)[len(around) // 2]
    ink = np.abs(part - ground).max(axis=2)
    return None if ink.max() < _LEAST_INK else (ink / ink.max()).astype(np.float32)


def _remove_rim(ink: Ink) -> Ink:
    """Return `ink` without what reaches from one side to the other: a button's border, a highlight."""
    flags = ink > _INK
    kept = ink.copy()
    for number, (_, _, w, h, _) in enumerate(find_shapes(flags).tolist(), 1):
        across, down = w == ink.shape[1], h == ink.shape[0]
        if (across and down) or (across and h <= _LINE_PX) or (down and w <= _LINE_PX):
            kept[number_shapes(flags) == number] = 0
    return kept


def _find_extent(ink: Ink) -> tuple[slice, slice] | None:
    """Return the rows and columns of the drawing; None for an empty picture."""
    rows, columns = np.flatnonzero((ink > _INK).any(axis=1)), np.flatnonzero((ink > _INK).any(axis=0))
    if not rows.size or not columns.size:
        return None
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)


def outline_of(ink: Ink) -> Outline | None:
    """Return the directions of the edges of `ink`, its length 1; None when nothing the size of an icon is drawn."""
    where = _find_extent(ink)
    if where is None:
        return None
    cut = ink[where]
    height, width = cut.shape
    if not 5 <= max(height, width) <= _MOST_PX:
        return None
    scale = (_SIDE - 2 * _RIM) / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = resize(cut, size, cubic=True)
    square = np.zeros((_SIDE, _SIDE), np.float32)
    top, left = (_SIDE - size[1]) // 2, (_SIDE - size[0]) // 2
    square[top : top + size[1], left : left + size[0]] = np.clip(small, 0, 1)
    return _measure_edges(square)


def _measure_edges(square: Ink) -> Outline:
    """Return the root of how strong the edges of each direction are around each cell."""
    across, down = _SMOOTH @ square @ _SLOPE.T, _SLOPE @ square @ _SMOOTH.T
    strength = np.hypot(across, down)
    angle = (np.arctan2(down, across) % np.pi) * (_DIRECTIONS / np.pi)
    low = np.floor(angle)
    rest = angle - low
    maps = np.zeros((_DIRECTIONS, _SIDE, _SIDE), np.float32)
    rows, columns = np.indices((_SIDE, _SIDE), sparse=True)
    first = low.astype(np.intp) % _DIRECTIONS
    maps[first, rows, columns] = strength * (1 - rest)
    maps[(first + 1) % _DIRECTIONS, rows, columns] = strength * rest
    cells = (_POOL @ maps @ _POOL.T).transpose(1, 2, 0)
    outline: Outline = _normalise_rows(np.sqrt(np.maximum(cells, 0)).ravel())
    return outline


def _make_gaussian(reach: int, sigma: float) -> NDArray[np.float64]:
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * sigma**2))
    return np.asarray(weights / weights.sum())


def _make_filter(kernel: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix that puts `kernel` over each of `_SIDE` values, which are mirrored at their ends."""
    reach = len(kernel) // 2
    mirrored = np.pad(np.eye(_SIDE), ((reach, reach), (0, 0)), mode="reflect")
    return np.asarray(sum(weight * mirrored[at : at + _SIDE] for at, weight in enumerate(kernel)))


_SOFT = _make_filter(_make_gaussian(3, 0.7))
_SMOOTH, _SLOPE = (np.asarray(_make_filter(kernel) @ _SOFT, np.float32) for kernel in ((1, 2, 1), (-1, 0, 1)))
"""An edge's strength (Sobel) on softened ink: along it, and across it."""
_POOL = np.asarray(_make_filter(_make_gaussian(_CELL, _CELL / 2))[_CELL // 2 :: _CELL], np.float32)


def _normalise_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    units: NDArray[np.float32] = (rows / np.maximum(lengths, 1e-6)).astype(np.float32)
    return units


_drawing = threading.Lock()


def icon_templates() -> IconTemplates:
    """Return the templates of this machine, drawn once however many threads ask."""
    with _drawing:
        return _all_templates()


@cache
def _all_templates() -> IconTemplates:
    return templates_of(drawings())


def templates_of(pictures: Iterable[IconDrawing]) -> IconTemplates:
    by_meaning: dict[str, list[int]] = {}
    outlines: list[Outline] = []
    for picture in pictures:
        outline = outline_of(picture.ink)
        if outline is None:  # an empty picture, or one larger than an icon
            continue
        for meaning in picture.meanings:
            by_meaning.setdefault(meaning, []).append(len(outlines))
        outlines.append(outline)
    stack = np.array(outlines, np.float32)
    middle = stack.mean(axis=0)
    spreads, axes = np.linalg.eigh(np.cov((stack - middle).T))
    order = np.argsort(spreads)[::-1][:_DIMENSIONS]
    whitening = (axes[:, order] / np.sqrt(spreads[order] + _LEAST_SPREAD * spreads[order].mean())).astype(np.float32)
    whitened = _normalise_rows((stack - middle) @ whitening)
    firsts = np.cumsum([0, *(len(rows) for rows in by_meaning.values())][:-1]).astype(np.intp)
    rows = whitened[[row for rows in by_meaning.values() for row in rows]]
    return IconTemplates(list(by_meaning), firsts, rows, middle.astype(np.float32), whitening)
