"""Where a pattern may stand in a plane of pixels: how alike it is to each place, by Fourier transforms of tiles.

With `a` for the values of a place and `u` for the pattern's, both less the pattern's mean, Lin's concordance is
2 a.u / (a.a + u.u). As a.u is at most the product of their lengths, a concordance of `least` needs an `a` of a share of
the length of `u`, and an a.u of that share of u.u. This leaves out most places before a.a is summed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from acud.pixels.filters import sum_windows

_TILE_PX = 256
"""The least side of a tile, which is four times that of a larger pattern."""

Plane = NDArray[np.uint8]
Values = NDArray[np.floating]
Alike = tuple[NDArray[np.intp], NDArray[np.intp], Values]
"""Rows and columns of places, and their concordance, off by less than 0.001."""


@dataclass(frozen=True, eq=False)
class PixelPattern:
    """`values`: height x width, less their `mean`, 0 where a pixel does not count. `counts`: 1 where one does, None
    where all do. `energy`: the sum of the squares.
    """

    values: Values
    counts: Values | None
    mean: float
    energy: float


def find_alike(pattern: PixelPattern, plane: Plane, least: float) -> Alike:
    """Return the places (of its top left pixel) in `plane` where the pattern has a concordance of at least `least`,
    row by row within a tile. A plane smaller than the pattern has none.
    """
    height, width = pattern.values.shape
    (down, high), (across, wide) = _plan_tiles(plane.shape[0], height), _plan_tiles(plane.shape[1], width)
    share = (1 - math.sqrt(1 - least**2)) / least
    least_range = 2 * share * math.sqrt(pattern.energy / pattern.values.size)
    found: list[Alike] = [(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, np.float32))]
    for top in range(0, plane.shape[0] - height + 1, down):
        for left in range(0, plane.shape[1] - width + 1, across):
            tile = plane[top : top + down + height - 1, left : left + across + width - 1]
            if np.ptp(tile) >= least_range:
                rows, columns, scores = _score_tile(pattern, tile, share, (high, wide))
                alike = scores >= least
                found.append((rows[alike] + top, columns[alike] + left, scores[alike]))
    rows, columns, scores = map(np.concatenate, zip(*found, strict=True))
    return rows, columns, scores


def _score_tile(pattern: PixelPattern, tile: Plane, share: float, size: tuple[int, int]) -> Alike:
    """Return the places whose product with the pattern is at least that `share` of its own."""
    height, width = pattern.values.shape
    spectra = (_kept_transforms if math.prod(size) <= _TILE_PX**2 else _transform_pattern)(pattern, size)

    def correlate(at: int) -> Values:
        products = np.fft.irfft2(np.fft.rfft2(values, size) * spectra[at], size)
        return products[: tile.shape[0] - height + 1, : tile.shape[1] - width + 1]

    values = tile - np.float32(pattern.mean)
    products = correlate(0)
    rows, columns = np.nonzero(products >= share * pattern.energy)
    if not rows.size:
        return rows, columns, products[rows, columns]
    values *= values
    energies = sum_windows(values, width, height) if pattern.counts is None else correlate(1)
    return rows, columns, 2 * products[rows, columns] / (energies[rows, columns] + np.float32(pattern.energy))


def _transform_pattern(pattern: PixelPattern, size: tuple[int, int]) -> list[NDArray[np.complexfloating]]:
    parts = (pattern.values,) if pattern.counts is None else (pattern.values, pattern.counts)
    return [np.fft.rfft2(one, size).conj() for one in parts]


_kept_transforms = lru_cache(maxsize=64)(_transform_pattern)  # small parts of many frames: 0.5 MB for one at most


def _plan_tiles(side: int, part: int) -> tuple[int, int]:
    """Return how many places of `part` in `side` one tile decides, and the length of its transform: the next one
    without a prime factor above 5, which transforms are fast for.
    """
    places = max(1, side - part + 1)
    most = max(_TILE_PX, 4 * part) - part + 1
    step = -(-places // -(-places // most))
    length = step + part - 1
    while 30**16 % length:
        length += 1
    return step, length
