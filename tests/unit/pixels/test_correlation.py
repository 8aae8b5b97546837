"""The places that are alike are those of OpenCV's correlation and of the definition, in whatever tiles they are."""

import cv2
import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from acud.pixels.correlation import PixelPattern, find_alike

Scores = NDArray[np.float64]


def draw(height: int, width: int) -> NDArray[np.uint8]:
    """Return soft noise, in which many places are somewhat alike."""
    noise = np.random.default_rng(5).normal(0, 1, (height, width))
    return cv2.normalize(cv2.GaussianBlur(noise, (0, 0), 2.5), None, 0, 255, cv2.NORM_MINMAX).astype(np.uint8)


def cut(
    plane: NDArray[np.uint8], x: int, y: int, w: int, h: int, counts: NDArray[np.float32] | None = None
) -> PixelPattern:
    part = plane[y : y + h, x : x + w].astype(np.float64)
    mean = float(np.average(part, weights=counts))
    values = (part - mean) * (1 if counts is None else counts)
    return PixelPattern(values.astype(np.float32), counts, mean, float((values**2).sum()))


def score(pattern: PixelPattern, plane: NDArray[np.uint8]) -> Scores:
    away = sliding_window_view(plane, pattern.values.shape) - pattern.mean
    counts = np.ones(pattern.values.shape) if pattern.counts is None else pattern.counts
    together = (away * pattern.values).sum(axis=(2, 3))
    return np.asarray(2 * together / ((away**2 * counts).sum(axis=(2, 3)) + pattern.energy))


def as_map(pattern: PixelPattern, plane: NDArray[np.uint8], least: float) -> Scores:
    rows, columns, found = find_alike(pattern, plane, least)
    scores = np.zeros([side - part + 1 for side, part in zip(plane.shape, pattern.values.shape, strict=True)])
    scores[rows, columns] = found
    assert np.count_nonzero(scores) == len(found)
    return scores


@pytest.mark.parametrize("size", [(9, 7), (16, 16), (31, 12), (110, 70)])
@pytest.mark.parametrize("masked", [False, True])
def test_places_are_those_of_the_definition(size: tuple[int, int], masked: bool) -> None:
    plane = draw(75, 120)
    counts = np.random.default_rng(6).random(size[::-1]).round().astype(np.float32) if masked else None
    pattern = cut(plane, 5, 2, *size, counts)
    wanted = score(pattern, plane)
    for least in 0.3, 0.6, 0.89:
        found = as_map(pattern, plane, least)
        assert np.abs(found - np.where(found > 0, wanted, 0)).max() < 1e-3
        assert (found[wanted >= least + 1e-3] > 0).all()
        assert (found[wanted < least - 1e-3] == 0).all()


@pytest.mark.parametrize("size", [(12, 9), (40, 110)])
def test_tiles_leave_out_no_place_of_a_large_plane(size: tuple[int, int]) -> None:
    plane = draw(700, 900)
    pattern = cut(plane, 503, 260, *size)
    away = plane.astype(np.float32) - np.float32(pattern.mean)
    together = cv2.matchTemplate(away, pattern.values, cv2.TM_CCORR)
    energies = cv2.matchTemplate(away**2, np.ones_like(pattern.values), cv2.TM_CCORR)
    wanted = 2 * together / (energies + pattern.energy)
    found = as_map(pattern, plane, 0.6)
    assert (found > 0).sum() > 9
    assert found[260, 503] == pytest.approx(1)
    assert (np.abs(found - wanted)[found > 0] < 1e-3).all()
    assert (found[wanted >= 0.601] > 0).all()


def test_a_flat_plane_has_no_place() -> None:
    plane = np.full((300, 300), 200, np.uint8)
    assert find_alike(cut(draw(40, 40), 3, 3, 20, 20), plane, 0.5)[0].size == 0
