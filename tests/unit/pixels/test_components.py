"""Shapes, spreading and long runs, each compared with its plain definition on small random pictures."""

from __future__ import annotations

import numpy as np
import pytest

from acud.pixels.components import Flags, find_shapes, long_runs, spread

PICTURES = [
    np.random.default_rng(seed).random((high, wide)) < share
    for seed, (high, wide, share) in enumerate(
        ((1, 1, 1.0), (1, 9, 0.6), (9, 1, 0.6), (12, 15, 0.1), (12, 15, 0.4), (14, 9, 0.6), (14, 11, 0.9), (5, 5, 0.0))
    )
]


@pytest.mark.parametrize("flags", PICTURES, ids=lambda flags: "x".join(map(str, flags.shape)))
def test_shapes_are_those_of_a_flood_fill(flags: Flags) -> None:
    assert sorted(map(tuple, find_shapes(flags).tolist())) == sorted(_flood(flags))


def _flood(flags: Flags) -> list[tuple[int, ...]]:
    left = {(int(y), int(x)) for y, x in np.argwhere(flags)}
    found = []
    while left:
        edge, shape = [left.pop()], set()
        while edge:
            y, x = edge.pop()
            shape.add((y, x))
            near = {(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)} & left
            left -= near
            edge += near
        ys, xs = zip(*shape, strict=True)
        found.append((min(xs), min(ys), max(xs) - min(xs) + 1, max(ys) - min(ys) + 1, len(shape)))
    return found


@pytest.mark.parametrize("flags", PICTURES, ids=lambda flags: "x".join(map(str, flags.shape)))
def test_spreading_sets_all_that_is_near(flags: Flags) -> None:
    wanted = np.zeros_like(flags)
    for y, x in np.argwhere(flags):
        wanted[max(0, y - 1) : y + 2, max(0, x - 4) : x + 5] = True
    assert np.array_equal(spread(flags, 9, 3), wanted)


def test_long_runs_stay_whole_and_short_ones_go() -> None:
    row = np.array([[c == "#" for c in "##...####..###.....##########...###"]])
    kept = np.array([[c == "#" for c in "##...####..........##########...###"]])
    assert np.array_equal(long_runs(row, 4, axis=1), kept), "half a run at the edge may be the end of a whole one"
    assert np.array_equal(long_runs(row.T, 4, axis=0), kept.T)
