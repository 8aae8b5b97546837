"""Lossy gates: is a frame different enough from the view last judged? Each misses changes, listed in docs/waiting.md.

Views are height x width x 4 uint8 BGRX of one shape; the fourth byte is undefined and never looked at. A view of
another shape always passes. `exact` and `none` are not lossy: tiles and identities decide there.

`blocks` counts the blocks of Scene Builder's grid: 16 columns and 16 rows on a whole display, each block compared by
its corner pixels. These blocks are not the bus's 16 px tiles: they grow with the display (80x45 px on 1280x720), and a
change that leaves a block's corners alone is not seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from acud.types import TILE_PX, GateKind, Rect

Pixels = NDArray[np.uint8]

_BLOCKS = 16  # blocks along each side

Grid = NDArray[np.uint32]
"""rows x columns; each block's corner lumas: top left in the highest byte, top right, bottom left, bottom right."""

Grey = NDArray[np.float64]

DEFAULTS: dict[GateKind, float] = {
    GateKind.RATIO: 0.01,
    GateKind.TILE_MAX: 0.05,
    GateKind.DHASH: 5.0,
    GateKind.BLOCKS: 1.0,
    GateKind.SSIM: 0.95,
}
"""Thresholds: 1 % of pixels (Smart Wait v1, gptme #2898), 13 pixels of one tile, 5 bits and one block (eliza), 0.95
(sinain v1)."""

SSIM_WINDOW = 7

_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2


def luma(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the luma of `pixels` (height x width x 4 uint8 BGRX, the fourth byte never looked at)."""
    blue, green, red = (pixels[:, :, channel].astype(np.float64) for channel in range(3))
    return np.asarray((red * 0.299 + green * 0.587 + blue * 0.114).astype(np.uint8))


def grid(pixels: Pixels) -> Grid:
    """Return the grid of `pixels` (height x width x 4 uint8 BGRX); blocks smaller than a pixel share one."""
    height, width = pixels.shape[:2]
    (top, bottom), (left, right) = _find_block_ends(height), _find_block_ends(width)
    corners = luma(pixels[np.concatenate((top, bottom))[:, None], np.concatenate((left, right))[None, :]])
    packed = corners.astype(np.uint32)
    upper, lower = packed[:_BLOCKS], packed[_BLOCKS:]
    left_corners = upper[:, :_BLOCKS] << 24 | lower[:, :_BLOCKS] << 8
    return np.asarray(left_corners | upper[:, _BLOCKS:] << 16 | lower[:, _BLOCKS:], np.uint32)


class Compared(NamedTuple):
    """Whether the gate lets the view through, and the measured figure."""

    changed: bool
    score: float


def passes(kind: GateKind, before: Pixels, after: Pixels, threshold: float | None, max_width_px: int) -> bool:
    """Return whether the gate `kind` lets `after` through; `threshold` None is its default. `max_width_px`: width to
    which `ratio` shrinks both views first (0: not at all).
    """
    if before.shape != after.shape:
        return True
    return compare(kind, before, after, threshold, max_width_px).changed


def compare(
    kind: GateKind, before: Pixels, after: Pixels, threshold: float | None = None, max_width_px: int = 320
) -> Compared:
    """Return the decision of the gate `kind` on two views of one shape."""
    if kind not in DEFAULTS:
        raise ValueError(f"{kind} is not a lossy gate")
    limit = DEFAULTS[kind] if threshold is None else threshold
    score = _measure_difference(kind, before, after, max_width_px)
    return Compared(score < limit if kind is GateKind.SSIM else score >= limit and score > 0, score)


# ---- ratio and tile_max --------------------------------------------------------------------------------------------


def ratio(before: Pixels, after: Pixels, max_width_px: int) -> float:
    """Return the share of pixels with any different colour, both views shrunk to `max_width_px` by averaging."""
    factor = -(-before.shape[1] // max_width_px) if max_width_px else 1
    differs = np.any(shrink(before, factor) != shrink(after, factor), axis=2)
    return int(np.count_nonzero(differs)) / int(differs.size)


def shrink(pixels: Pixels, factor: int) -> Pixels:
    """Return the colours averaged over squares of `factor` pixels, rounded down; height x width x 3 uint8."""
    colours = pixels[:, :, :3]
    if factor <= 1:
        return colours
    height, width = colours.shape[:2]
    sums = np.zeros((-(-height // factor), -(-width // factor), 3), np.uint32)
    counts = np.zeros((*sums.shape[:2], 1), np.uint32)
    for dy, dx in np.ndindex(factor, factor):
        part = colours[dy::factor, dx::factor]
        sums[: part.shape[0], : part.shape[1]] += part
        counts[: part.shape[0], : part.shape[1]] += 1
    return (sums // counts).astype(np.uint8)


def tile_max(before: Pixels, after: Pixels) -> float:
    """Return the greatest share of changed pixels in any 16x16 tile; partial tiles count as whole ones."""
    differs = np.any(before[:, :, :3] != after[:, :, :3], axis=2)
    rows, columns = (np.arange(0, size, TILE_PX) for size in differs.shape)
    counts = np.add.reduceat(np.add.reduceat(differs, rows, axis=0, dtype=np.uint32), columns, axis=1)
    return float(counts.max()) / TILE_PX**2


# ---- dhash ---------------------------------------------------------------------------------------------------------


def dhash(pixels: Pixels) -> int:
    """Return 64 bits: on a 9x8 nearest-neighbour miniature, is each luma greater than the one right of it? Row-major,
    first bit most significant.
    """
    height, width = pixels.shape[:2]
    rows, columns = np.arange(8) * height // 8, np.arange(9) * width // 9
    small = luma(pixels[rows[:, None], columns[None, :]])
    return int.from_bytes(np.packbits(small[:, :-1] > small[:, 1:]).tobytes(), "big")


# ---- ssim ----------------------------------------------------------------------------------------------------------


def ssim(before: Pixels, after: Pixels, box: Rect | None = None) -> float:
    """Return the mean structural similarity of both views in grey at half size; 1 for equal ones.

    Wang et al. 2004, equation 13, with a 7x7 uniform window and sample covariance. A view smaller than the window at
    half size is 1 when equal, else 0. `box`: the only place where the views differ; windows outside it count as 1.
    """
    height, width = -(-before.shape[0] // 2), -(-before.shape[1] // 2)
    if min(height, width) < SSIM_WINDOW:
        return 1.0 if np.array_equal(_shrink_to_grey(before), _shrink_to_grey(after)) else 0.0
    rows, columns = (slice(0, height), slice(0, width)) if box is None else _span_windows(box, height, width)
    inside = (slice(2 * rows.start, 2 * rows.stop), slice(2 * columns.start, 2 * columns.stop))
    unlike = 1.0 - _measure_similarities(_shrink_to_grey(before[inside]), _shrink_to_grey(after[inside]))
    windows: int = (height - SSIM_WINDOW + 1) * (width - SSIM_WINDOW + 1)
    return 1.0 - float(np.sum(unlike)) / windows


def _find_block_ends(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and the last pixel of each block along `size`."""
    cuts = np.arange(_BLOCKS + 1) * size // _BLOCKS
    return cuts[:-1], np.maximum(cuts[:-1], cuts[1:] - 1)


def _measure_difference(kind: GateKind, before: Pixels, after: Pixels, max_width_px: int) -> float:
    if kind is GateKind.RATIO:
        return ratio(before, after, max_width_px)
    if kind is GateKind.TILE_MAX:
        return tile_max(before, after)
    if kind is GateKind.BLOCKS:
        return float(np.count_nonzero(grid(before) != grid(after)))
    return ssim(before, after) if kind is GateKind.SSIM else float((dhash(before) ^ dhash(after)).bit_count())


def _span_windows(box: Rect, height: int, width: int) -> tuple[slice, slice]:
    """Return the rows and columns, at half size, of all windows that touch `box`; at least one window."""
    reach = SSIM_WINDOW - 1
    top, left = max(0, box.y // 2 - reach), max(0, box.x // 2 - reach)
    bottom, right = min(height, -(-box.bottom // 2) + reach), min(width, -(-box.right // 2) + reach)
    return slice(min(top, height - SSIM_WINDOW), bottom), slice(min(left, width - SSIM_WINDOW), right)


def _measure_similarities(a: Grey, b: Grey) -> Grey:
    mean_a, mean_b = _average_windows(a), _average_windows(b)
    sample = SSIM_WINDOW**2 / (SSIM_WINDOW**2 - 1)
    var_a, var_b = (_average_windows(a * a) - mean_a**2) * sample, (_average_windows(b * b) - mean_b**2) * sample
    both = (_average_windows(a * b) - mean_a * mean_b) * sample
    top = (2 * mean_a * mean_b + _C1) * (2 * both + _C2)
    bottom = (mean_a**2 + mean_b**2 + _C1) * (var_a + var_b + _C2)
    return np.asarray(top / bottom)


def _shrink_to_grey(pixels: Pixels) -> Grey:
    colours = shrink(pixels, 2).astype(np.float64)
    return np.asarray(colours @ np.array([0.114, 0.587, 0.299]))


def _average_windows(values: Grey) -> Grey:
    sums = np.zeros((values.shape[0] + 1, values.shape[1] + 1))
    np.cumsum(np.cumsum(values, axis=0), axis=1, out=sums[1:, 1:])
    w = SSIM_WINDOW
    windows = sums[w:, w:] - sums[:-w, w:] - sums[w:, :-w] + sums[:-w, :-w]
    return np.asarray(windows / w**2)
