"""Black boxes: a copy, clipped, and nothing beside them."""

import numpy as np

from acud.pixels.tiles import blackout
from acud.types import Rect


def test_boxes_are_black_in_a_copy_and_may_overhang() -> None:
    pixels = np.full((10, 12, 4), 9, np.uint8)
    black = blackout(pixels[:, 1:11], [Rect(-3, -3, 5, 5), Rect(8, 9, 99, 99), Rect(50, 50, 1, 1), Rect(4, 4, 0, 3)])
    expected = np.full((10, 10, 4), 9, np.uint8)
    expected[:2, :2] = expected[9:, 8:] = 0
    assert np.array_equal(black, expected)
    assert black.flags.c_contiguous
    assert (pixels == 9).all()
    assert not np.shares_memory(blackout(pixels, ()), pixels)
