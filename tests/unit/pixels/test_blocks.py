"""The block grid: geometry, corner lumas, differing blocks, as Scene Builder's own tests have them."""

import numpy as np
import pytest
from numpy.typing import NDArray

from acud.pixels.gates import compare, grid, luma
from acud.types import GateKind

Frame = NDArray[np.uint8]


def frame(width: int, height: int, value: int = 0) -> Frame:
    return np.full((height, width, 4), value, np.uint8)


def test_a_grid_has_16_columns_and_16_rows_on_any_size() -> None:
    for width, height in ((1280, 720), (1024, 768), (100, 37), (16, 16), (3, 2), (1, 1)):
        assert grid(frame(width, height)).shape == (16, 16)


def test_a_block_is_its_four_corner_lumas_packed() -> None:
    pixels = frame(32, 32)
    for (x, y), value in (((4, 6), 10), ((5, 6), 20), ((4, 7), 30), ((5, 7), 40)):
        pixels[y, x] = value
    assert luma(pixels)[6:8, 4:6].tolist() == [[10, 20], [30, 40]]
    assert int(grid(pixels)[3, 2]) == 10 << 24 | 20 << 16 | 30 << 8 | 40
    assert np.count_nonzero(grid(pixels)) == 1


def test_a_block_reaches_to_the_pixel_before_the_next() -> None:
    pixels = frame(1000, 500)
    pixels[2 * 500 // 16 - 1, 4 * 1000 // 16 - 1] = 255  # the last pixel of column 3, row 1
    assert {(int(c), int(r)) for r, c in np.argwhere(grid(pixels))} == {(3, 1)}
    assert int(grid(pixels)[1, 3]) == 255


def test_the_luma_is_truncated_and_weighs_colours() -> None:
    colours = np.zeros((1, 4, 4), np.uint8)
    colours[0, 0, 2] = colours[0, 1, 1] = colours[0, 2, 0] = 255  # red, green, blue
    colours[0, 3] = [10, 20, 30, 99]
    assert luma(colours).tolist() == [[76, 149, 29, 21]]


def test_a_change_that_spares_the_corners_is_not_seen() -> None:
    before = frame(1280, 720)
    inside, corner = before.copy(), before.copy()
    inside[1:44, 1:79] = 255
    corner[0, 0] = 255
    assert compare(GateKind.BLOCKS, before, inside) == (False, 0.0)
    assert compare(GateKind.BLOCKS, before, corner) == (True, 1.0)
    assert compare(GateKind.BLOCKS, before, corner, threshold=2).changed is False


@pytest.mark.parametrize("fourth", [0, 255])
def test_the_undefined_byte_is_nothing(fourth: int) -> None:
    pixels = frame(64, 64, 7)
    pixels[:, :, 3] = fourth
    assert (grid(pixels) == grid(frame(64, 64, 7))).all()
