"""Changed tiles as boxes: they cover what changed, are few, and lie on tiles."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from acud.types import Rect
from acud_web.live import picture_parts
from acud_web.live.picture_parts import MAX_BOXES, Mask

WIDTH, HEIGHT = 1280, 714
ROWS, COLUMNS = 45, 80


def mask(*tiles: tuple[int, int]) -> Mask:
    made = np.zeros((ROWS, COLUMNS), np.bool_)
    for row, column in tiles:
        made[row, column] = True
    return made


def test_nothing_changed_is_no_box() -> None:
    assert picture_parts.boxes(mask(), WIDTH, HEIGHT) == []


def test_one_tile_is_its_own_box() -> None:
    assert picture_parts.boxes(mask((3, 5)), WIDTH, HEIGHT) == [Rect(80, 48, 16, 16)]


def test_the_last_row_is_partial() -> None:
    assert picture_parts.boxes(mask((44, 79)), WIDTH, HEIGHT) == [Rect(1264, 704, 16, 10)]


def test_neighbours_are_one_box_and_strangers_two() -> None:
    assert picture_parts.boxes(mask((1, 1), (1, 2), (2, 1), (2, 2)), WIDTH, HEIGHT) == [Rect(16, 16, 32, 32)]
    assert len(picture_parts.boxes(mask((1, 1), (40, 70)), WIDTH, HEIGHT)) == 2


def test_a_word_with_a_hole_is_one_box() -> None:
    assert picture_parts.boxes(mask((1, 1), (1, 3), (1, 4)), WIDTH, HEIGHT) == [Rect(16, 16, 64, 16)]


def test_a_whole_screen_is_cut_in_cells_that_do_not_overlap() -> None:
    found = picture_parts.boxes(np.ones((ROWS, COLUMNS), np.bool_), WIDTH, HEIGHT)
    assert sum(box.area for box in found) == WIDTH * HEIGHT
    assert max(box.w for box in found) <= 512
    assert max(box.h for box in found) <= 256


@given(st.sets(st.tuples(st.integers(0, ROWS - 1), st.integers(0, COLUMNS - 1)), max_size=200))
def test_every_changed_tile_is_covered_by_boxes_on_tiles(tiles: set[tuple[int, int]]) -> None:
    changed = mask(*tiles)
    found = picture_parts.boxes(changed, WIDTH, HEIGHT)
    assert not (changed & ~picture_parts.tiles_of(found, WIDTH, HEIGHT)).any()
    for box in found:
        assert box.x % 16 == 0
        assert box.y % 16 == 0
        assert box.right % 16 == 0 or box.right == WIDTH
        assert box.bottom % 16 == 0 or box.bottom == HEIGHT


@given(st.integers(0, 2**32 - 1))
def test_snow_is_few_boxes(seed: int) -> None:
    found = picture_parts.boxes(np.random.default_rng(seed).random((ROWS, COLUMNS)) < 0.1, WIDTH, HEIGHT)
    assert len(found) <= MAX_BOXES + 9 * MAX_BOXES  # cut along the grid of cells


def test_the_first_tiles_are_kept() -> None:
    assert np.flatnonzero(picture_parts.take_first(mask((0, 3), (0, 7), (2, 2)), 2)).tolist() == [3, 7]


def test_scaled_boxes_are_around_what_they_show_and_inside() -> None:
    size, to = (1280, 720), (320, 180)
    assert picture_parts.scale_areas([Rect(400, 400, 16, 16)], size, to, 2) == [Rect(98, 98, 8, 8)]
    assert picture_parts.scale_areas([Rect(0, 0, 1280, 720)], size, to, 2) == [Rect(0, 0, 320, 180)]
