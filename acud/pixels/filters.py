"""Sums of windows, and pictures in other sizes. By numpy alone, as in `acud.pixels.components`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def sum_windows(values: NDArray[Any], wide: int, high: int) -> NDArray[np.float64]:
    for size in high, wide:
        sums: NDArray[np.float64] = values.cumsum(0, np.float64)
        sums[size:] -= sums[:-size].copy()
        values = sums[size - 1 :].swapaxes(0, 1)
    return values


def resize(values: NDArray[Any], size: tuple[int, int], *, cubic: bool = False) -> NDArray[np.float32]:
    """Return `values` (height x width, or x channels) in `size` (width, height): along each axis the mean of what a
    pixel covers if that is more than one, else what lies between the nearest, by a line or a `cubic` curve.
    """
    columns = _compute_weights(values.shape[1], size[0], cubic=cubic)
    rows: NDArray[np.float32] = np.tensordot(_compute_weights(values.shape[0], size[1], cubic=cubic), values, 1)
    resized: NDArray[np.float32] = rows @ columns.T if values.ndim == 2 else columns @ rows
    return resized


def _compute_weights(inner: int, outer: int, *, cubic: bool) -> NDArray[np.float32]:
    """Return how much each of `inner` pixels counts for each of `outer`, as OpenCV has it."""
    ratio = inner / outer
    if ratio > 1:
        pixels, ends = np.arange(inner), np.arange(outer + 1)[:, None] * ratio
        covered = np.minimum(ends[1:], pixels + 1) - np.maximum(ends[:-1], pixels)
        return np.asarray(np.maximum(covered, 0) / ratio, np.float32)
    away = np.abs((np.arange(outer)[:, None] + 0.5) * ratio - 0.5 - np.arange(-2, inner + 2))
    near, far = 1.25 * away**3 - 2.25 * away**2 + 1, -0.75 * (away**3 - 5 * away**2 + 8 * away - 4)
    parts = np.where(away < 1, near if cubic else 1 - away, np.where(away < 2, far, 0) if cubic else 0)
    weights = parts[:, 2:-2]
    weights[:, 0] += parts[:, :2].sum(axis=1)  # beyond its ends a picture goes on as there
    weights[:, -1] += parts[:, -2:].sum(axis=1)
    return weights.astype(np.float32)
