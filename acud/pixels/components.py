"""Flags of pixels joined to shapes: spread by a rectangle, long straight runs, connected shapes. By numpy alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Boxes = NDArray[np.int64]
"""A row for each shape: left, top, width, height and how many pixels it has."""


def spread(flags: Flags, wide: int, high: int) -> Flags:
    """Return which pixels have a set one in the `wide` x `high` (both odd) around them: a dilation."""
    across = _any_of(_pad_flags(flags, wide // 2, 1), wide, 1)
    return _any_of(_pad_flags(across, high // 2, 0), high, 0)


def long_runs(flags: Flags, least: int, *, axis: int) -> Flags:
    """Return the pixels in straight runs of at least `least` along `axis`; half is enough at the picture's edge."""
    edge = least // 2
    starts = ~_any_of(~_pad_flags(flags, edge, axis, fill=True), least, axis)
    whole = _any_of(_pad_flags(starts, least - 1, axis), least, axis)
    return whole[:, edge:-edge] if axis else whole[edge:-edge]


def _pad_flags(flags: Flags, width: int, axis: int, *, fill: bool = False) -> Flags:
    height, wide = flags.shape
    padded = np.full((height, wide + 2 * width) if axis else (height + 2 * width, wide), fill)
    padded[(slice(None), slice(width, width + wide)) if axis else slice(width, width + height)] = flags
    return padded


def _any_of(flags: Flags, size: int, axis: int) -> Flags:
    """Return for each place whether one of the `size` flags from it on along `axis` is set; the last have too few."""
    found, reach = flags, 1
    while reach < size:
        step = min(reach, size - reach)
        found = found[:, :-step] | found[:, step:] if axis else found[:-step] | found[step:]
        reach += step
    return found


def find_shapes(flags: Flags) -> Boxes:
    """Return the box and size of each shape of set pixels that touch at a side or a corner, by their first pixels."""
    rows, firsts, ends = _find_runs(flags)
    labels = _label_runs(rows, firsts, ends, flags.shape[1] + 2)
    order = np.argsort(labels, kind="stable")
    at = np.flatnonzero(np.diff(labels[order], prepend=-1))
    if not at.size:
        return np.zeros((0, 5), np.int64)
    rows, firsts, ends = rows[order], firsts[order], ends[order]
    left, right = np.minimum.reduceat(firsts, at), np.maximum.reduceat(ends, at)
    top, bottom = np.minimum.reduceat(rows, at), np.maximum.reduceat(rows, at) + 1
    return np.stack((left, top, right - left, bottom - top, np.add.reduceat(ends - firsts, at)), axis=1)


def number_shapes(flags: Flags, *, corners: bool = True) -> NDArray[np.intp]:
    """Return for each set pixel the number of its shape from 1 on, in the order of `find_shapes`; 0 for the others.
    Without `corners` shapes that touch at a corner alone are apart.
    """
    rows, firsts, ends = _find_runs(flags)
    labels = _label_runs(rows, firsts, ends, flags.shape[1] + 2, corners=corners)
    numbers = np.zeros(flags.shape, np.intp)
    numbers[flags] = np.repeat(np.unique(labels, return_inverse=True)[1] + 1, ends - firsts)
    return numbers


def _find_runs(flags: Flags) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return row, first column and column past the end of each run of set pixels in a row, in reading order."""
    padded = np.zeros((flags.shape[0], flags.shape[1] + 2), np.bool_)
    padded[:, 1:-1] = flags
    edges = padded[:, 1:] != padded[:, :-1]
    rows, columns = np.divmod(np.flatnonzero(edges), edges.shape[1])
    return rows[::2], columns[::2], columns[1::2]


def _label_runs(
    rows: NDArray[np.int64], firsts: NDArray[np.int64], ends: NDArray[np.int64], pitch: int, *, corners: bool = True
) -> NDArray[np.int64]:
    """Return for each run the first one of its shape. Runs of one row below the other touch where they overlap, or,
    with `corners`, their ends meet at a corner.
    """
    labels = np.arange(rows.size)
    below = (rows + 1) * pitch
    low = np.searchsorted(rows * pitch + ends, below + firsts, "left" if corners else "right")
    counts = np.searchsorted(rows * pitch + firsts, below + ends, "right" if corners else "left") - low
    upper = np.repeat(labels, counts)
    lower = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(low, counts)
    while True:
        one, other = labels[upper], labels[lower]
        apart = one != other
        if not apart.any():
            return labels
        np.minimum.at(labels, np.maximum(one, other)[apart], np.minimum(one, other)[apart])
        while not np.array_equal(further := labels[labels], labels):
            labels = further
