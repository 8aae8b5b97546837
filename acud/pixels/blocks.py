"""The block grid of Scene Builder: 16 columns and 16 rows on a whole display, each block known by its corner pixels.

These blocks are not the bus's 16 px tiles: they grow with the display (80x45 px on 1280x720), and a change that leaves
a block's corners alone is not seen. docs/waiting.md says what that misses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from acud.pixels.luma import luma
from acud.types import Rect

COLUMNS = ROWS = 16

Pixels = NDArray[np.uint8]
Grid = NDArray[np.uint32]
"""rows x columns; each block's corner lumas: top left in the highest byte, top right, bottom left, bottom right."""


class Block(NamedTuple):
    """A block's place in its grid, and the pixels that it covers."""

    column: int
    row: int
    bbox: Rect


def grid(pixels: Pixels, columns: int = COLUMNS, rows: int = ROWS) -> Grid:
    """Return the grid of `pixels` (height x width x 4 uint8 BGRX); blocks smaller than a pixel share one."""
    height, width = pixels.shape[:2]
    (top, bottom), (left, right) = _ends(height, rows), _ends(width, columns)
    corners = luma(pixels[np.concatenate((top, bottom))[:, None], np.concatenate((left, right))[None, :]])
    packed = corners.astype(np.uint32)
    upper, lower = packed[:rows], packed[rows:]
    return np.asarray(
        upper[:, :columns] << 24 | upper[:, columns:] << 16 | lower[:, :columns] << 8 | lower[:, columns:], np.uint32
    )


def dirty(before: Grid | None, now: Grid, width: int = 0, height: int = 0) -> list[Block]:
    """Return the blocks of `now` that differ from `before`, row by row; all where the grids are not of one size.

    Boxes are in pixels of a `width` x `height` frame; without these in blocks.
    """
    same_size = before is not None and before.shape == now.shape
    differs = before != now if same_size else np.ones(now.shape, np.bool_)
    rows, columns = now.shape
    across, down = (width, height) if width and height else (columns, rows)
    return [
        Block(int(column), int(row), _box(int(column), int(row), 1, 1, (columns, rows), (across, down)))
        for row, column in np.argwhere(differs)
    ]


def coalesced(blocks: list[Block], columns: int, rows: int, width: int = 0, height: int = 0) -> list[Rect]:
    """Return few boxes that cover `blocks`: runs along each row, each joined to the box emitted last if that ends in
    the row above and has the same columns. In pixels of a `width` x `height` frame; without these in blocks.
    """
    size = (width, height) if width and height else (columns, rows)
    strips: list[tuple[int, int, int, int]] = []
    for column, row, span in _runs({(block.row, block.column) for block in blocks}):
        if strips and strips[-1][0] == column and strips[-1][2] == span and strips[-1][1] + strips[-1][3] == row:
            strips[-1] = (column, strips[-1][1], span, strips[-1][3] + 1)
        else:
            strips.append((column, row, span, 1))
    return [_box(*strip, (columns, rows), size) for strip in strips]


def _runs(taken: set[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Return (column, row, columns) of each unbroken run, row by row."""
    runs: list[tuple[int, int, int]] = []
    for row, column in sorted(taken):
        if runs and runs[-1][1] == row and runs[-1][0] + runs[-1][2] == column:
            runs[-1] = (runs[-1][0], row, runs[-1][2] + 1)
        else:
            runs.append((column, row, 1))
    return runs


def _ends(size: int, parts: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and the last pixel of each of `parts` along `size`."""
    cuts = np.arange(parts + 1) * size // parts
    return cuts[:-1], np.maximum(cuts[:-1], cuts[1:] - 1)


def _box(column: int, row: int, columns: int, rows: int, parts: tuple[int, int], size: tuple[int, int]) -> Rect:
    x, y = column * size[0] // parts[0], row * size[1] // parts[1]
    right, bottom = (column + columns) * size[0] // parts[0], (row + rows) * size[1] // parts[1]
    return Rect(x, y, max(1, right - x), max(1, bottom - y))
