"""Sums of windows by their definition, pictures in other sizes as OpenCV's."""

import cv2
import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from acud.pixels.filters import resize, sum_windows


@pytest.mark.parametrize("size", [(1, 1), (9, 9), (5, 7), (48, 20), (70, 50)])
def test_each_whole_window_is_summed(size: tuple[int, int]) -> None:
    values = np.random.default_rng(1).integers(0, 256, (50, 70, 3))
    windows = sliding_window_view(values, size[::-1], axis=(0, 1))
    assert (sum_windows(values, *size) == windows.sum(axis=(3, 4))).all()


@pytest.mark.parametrize("scale", [0.3, 0.9, 0.95, 1.0, 1.05, 1.1, 2.0])
@pytest.mark.parametrize("shape", [(20, 48, 3), (37, 53, 3), (64, 9), (5, 2)])
@pytest.mark.parametrize("cubic", [False, True])
def test_another_size_is_that_of_opencv(shape: tuple[int, ...], scale: float, cubic: bool) -> None:
    values = np.random.default_rng(2).random(shape, np.float32)
    size = max(1, round(shape[1] * scale)), max(1, round(shape[0] * scale))
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC if cubic else cv2.INTER_LINEAR
    found = resize(values, size, cubic=cubic)
    assert np.abs(found - cv2.resize(values, size, interpolation=way)).max() < 1e-5
