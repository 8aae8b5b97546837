"""Shapes of flags by numpy alone: those of OpenCV, and straight runs by their definition."""

from itertools import groupby

import cv2
import numpy as np
import pytest

from acud.pixels.components import Flags, find_shapes, long_runs, number_shapes, spread

SIZES = ((1, 1), (1, 90), (90, 1), (2, 3), (37, 53), (120, 200))
SHARES = (0.0, 0.02, 0.3, 0.5, 0.7, 0.98, 1.0)


def draw(size: tuple[int, int], share: float) -> Flags:
    return np.random.default_rng(7).random(size) < share


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", SHARES)
def test_shapes_are_those_of_opencv_by_their_first_rows(size: tuple[int, int], share: float) -> None:
    flags = draw(size, share)
    count, _, stats, _ = cv2.connectedComponentsWithStats(flags.astype(np.uint8), connectivity=8)
    found = find_shapes(flags).tolist()
    assert sorted(found) == sorted(stats[1:count].tolist())
    assert [top for _, top, *_ in found] == sorted(top for _, top, *_ in found)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("corners", [False, True])
def test_numbers_are_those_of_opencv_in_the_order_of_shapes(size: tuple[int, int], share: float, corners: bool) -> None:
    flags = draw(size, share)
    count, labels = cv2.connectedComponents(flags.astype(np.uint8), connectivity=8 if corners else 4)
    numbers = number_shapes(flags, corners=corners)
    pairs = {(0, 0), *zip(numbers.ravel().tolist(), labels.ravel().tolist(), strict=True)}
    assert len(pairs) == numbers.max() + 1 == count
    if corners:
        boxes = [cv2.boundingRect((numbers == one).astype(np.uint8)) for one in range(1, count)]
        assert boxes == [tuple(shape) for shape in find_shapes(flags)[:, :4].tolist()]


def test_a_spiral_is_one_shape() -> None:
    flags = np.zeros((41, 41), np.bool_)
    for edge in range(0, 20, 4):
        flags[edge, edge : 41 - edge] = flags[40 - edge, edge : 41 - edge] = True
        flags[edge : 41 - edge, 40 - edge] = flags[edge + 2 : 41 - edge, edge] = True
        flags[edge + 2, edge : edge + 5] = flags[edge + 2 : edge + 5, edge + 4] = True
    assert find_shapes(flags)[:, :4].tolist() == [[0, 0, 41, 41]]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", SHARES)
def test_what_is_spread_is_what_opencv_dilates(size: tuple[int, int], share: float) -> None:
    flags = draw(size, share)
    for wide, high in (1, 1), (3, 5), (33, 9):
        grown = cv2.dilate(flags.astype(np.uint8), np.ones((high, wide), np.uint8))
        assert (spread(flags, wide, high) == grown.astype(np.bool_)).all()


def keep_runs(line: list[bool], least: int) -> list[bool]:
    beyond = [True] * (least // 2)
    runs = [list(run) for _, run in groupby([*beyond, *line, *beyond])]
    kept = [one and len(run) >= least for run in runs for one in run]
    return kept[len(beyond) : len(beyond) + len(line)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", SHARES)
def test_long_runs_are_whole_and_half_as_long_at_the_edge(size: tuple[int, int], share: float) -> None:
    flags = draw(size, share)
    for least in 5, 6, 24, 56:
        level = [keep_runs(row, least) for row in flags.tolist()]
        upright = [keep_runs(column, least) for column in flags.T.tolist()]
        assert long_runs(flags, least, axis=1).tolist() == level
        assert long_runs(flags, least, axis=0).T.tolist() == upright
