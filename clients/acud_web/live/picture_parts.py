"""The parts of a picture that are sent: from changed tiles to few boxes, and each box as PNG or JPEG. Pure.

A box costs some 150 bytes and a call of a decoder, whatever is in it. What is flat or small is sent exactly, what is
busy and large roughly at first: a photo of 1280x720 takes 1.8 MB as PNG, 170 KB as JPEG; dense text 175 KB as PNG,
471 KB as JPEG.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import simplejpeg

from acud.types import TILE_PX, Rect

Mask = npt.NDArray[np.bool_]
"""rows x columns of tiles."""

MAX_BOXES = 16
_WASTE = 8
"""Tiles that may be sent in vain to save a box."""
_CELL = Rect(0, 0, 32, 16)
"""Larger boxes are cut along a grid of such cells (in tiles): each then has the format that suits it."""

_Tiles = tuple[int, int, int, int]
"""left, top, right, bottom, in tiles; the last two are past the box."""


def boxes(mask: Mask, width: int, height: int) -> list[Rect]:
    """Return boxes in pixels of a `width` x `height` frame that cover the tiles set in `mask`; at most MAX_BOXES, but
    for those that are cut in cells.
    """
    gap = 1
    found = _cut_strips(mask, gap)
    while len(found) > MAX_BOXES:
        gap *= 2
        found = _cut_strips(_coarsen_mask(mask, gap), gap)
    return [_scale_to_pixels(cell, width, height) for box in _merge_boxes(found) for cell in _split_cells(box)]


def tiles_of(areas: Iterable[Rect], width: int, height: int) -> Mask:
    """Return the tiles that `areas` (pixels; they may overhang) touch."""
    mask = np.zeros((-(-height // TILE_PX), -(-width // TILE_PX)), np.bool_)
    for area in areas:
        inside = Rect(0, 0, width, height).intersect(area)
        if inside is not None:
            rows = slice(inside.y // TILE_PX, -(-inside.bottom // TILE_PX))
            mask[rows, inside.x // TILE_PX : -(-inside.right // TILE_PX)] = True
    return mask


def take_first(mask: Mask, most: int) -> Mask:
    """Return the first `most` tiles set in `mask`, row by row."""
    kept = np.zeros(mask.size, np.bool_)
    kept[np.flatnonzero(mask)[:most]] = True
    return kept.reshape(mask.shape)


def scale_areas(areas: Iterable[Rect], size: tuple[int, int], to: tuple[int, int], margin: int) -> list[Rect]:
    """Return the parts of a picture of size `to` that show `areas` of one of `size` (width, height), `margin` px
    around.
    """
    found = (_scale_area(area, size, to, margin) for area in areas)
    return [box for box in found if box is not None]


def _scale_area(area: Rect, size: tuple[int, int], to: tuple[int, int], margin: int) -> Rect | None:
    x, y = area.x * to[0] // size[0] - margin, area.y * to[1] // size[1] - margin
    right, bottom = -(-area.right * to[0] // size[0]) + margin, -(-area.bottom * to[1] // size[1]) + margin
    return Rect(x, y, right - x, bottom - y).intersect(Rect(0, 0, *to))


def _coarsen_mask(mask: Mask, step: int) -> Mask:
    """Return `mask` with every `step` x `step` square set in which a tile is."""
    rows, columns = mask.shape
    padded = np.zeros((-(-rows // step) * step, -(-columns // step) * step), np.bool_)
    padded[:rows, :columns] = mask
    squares = padded.reshape(padded.shape[0] // step, step, padded.shape[1] // step, step).any(axis=(1, 3))
    return np.asarray(squares.repeat(step, 0).repeat(step, 1)[:rows, :columns])


def _cut_strips(mask: Mask, gap: int) -> list[_Tiles]:
    """Return runs of each row (over gaps of up to `gap` tiles), joined to the one above that has the same columns."""
    strips: list[_Tiles] = []
    above: dict[tuple[int, int], int] = {}
    for row in np.flatnonzero(mask.any(axis=1)).tolist():
        here: dict[tuple[int, int], int] = {}
        for left, right in _group_columns(np.flatnonzero(mask[row]).tolist(), gap):
            at = above.get((left, right), -1)
            if at >= 0 and strips[at][3] == row:
                strips[at] = (left, strips[at][1], right, row + 1)
            else:
                at = len(strips)
                strips.append((left, row, right, row + 1))
            here[left, right] = at
        above = here
    return strips


def _group_columns(columns: list[int], gap: int) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for column in columns:
        if runs and column - runs[-1][1] <= gap:
            runs[-1] = (runs[-1][0], column + 1)
        else:
            runs.append((column, column + 1))
    return runs


def _merge_boxes(parts: list[_Tiles]) -> list[_Tiles]:
    """Join boxes while that sends few unchanged pixels."""
    boxes = list(parts)
    while (pair := _find_nearest(boxes)) is not None:
        one, other = pair
        boxes = [box for box in boxes if box is not one and box is not other]
        boxes.append(_surround_both(one, other))
    return boxes


def _find_nearest(boxes: list[_Tiles]) -> tuple[_Tiles, _Tiles] | None:
    for at, one in enumerate(boxes):
        for other in boxes[at + 1 :]:
            if _count_tiles(_surround_both(one, other)) - _count_tiles(one) - _count_tiles(other) <= _WASTE:
                return one, other
    return None


def _surround_both(one: _Tiles, other: _Tiles) -> _Tiles:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _count_tiles(box: _Tiles) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def _split_cells(box: _Tiles) -> list[_Tiles]:
    left, top, right, bottom = box
    columns = [left, *range((left // _CELL.w + 1) * _CELL.w, right, _CELL.w), right]
    rows = [top, *range((top // _CELL.h + 1) * _CELL.h, bottom, _CELL.h), bottom]
    return [
        (columns[i], rows[k], columns[i + 1], rows[k + 1])
        for k in range(len(rows) - 1)
        for i in range(len(columns) - 1)
    ]


def _scale_to_pixels(box: _Tiles, width: int, height: int) -> Rect:
    left, top, right, bottom = (edge * TILE_PX for edge in box)
    return Rect(left, top, min(right, width) - left, min(bottom, height) - top)


Pixels = npt.NDArray[np.uint8]
"""Height x width x 4 uint8 BGRX, C-contiguous; the fourth byte is undefined."""

_QUALITY = 75
_MJPEG_QUALITY = 80


def jpeg(pixels: Pixels, quality: int = _QUALITY) -> bytes:
    """Return `pixels` as JPEG 4:2:0."""
    return bytes(simplejpeg.encode_jpeg(pixels, quality=quality, colorspace="BGRX", colorsubsampling="420"))


def whole_jpeg(pixels: Pixels) -> bytes:
    return jpeg(pixels, _MJPEG_QUALITY)
