"""What must be found anew after a change: everything near it, and no line cut in two."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from acud.evaluator.ocr.changes import apart, changed_boxes, on_grid, plan_reading
from acud.types import Rect

BOUNDS = Rect(0, 0, 200, 120)

rects = st.builds(Rect, st.integers(0, 180), st.integers(0, 100), st.integers(1, 60), st.integers(1, 30)).map(
    lambda box: box.intersect(BOUNDS)
)


def blank() -> np.ndarray:
    return np.zeros((120, 200, 4), np.uint8)


@settings(max_examples=60, deadline=None)
@given(st.lists(rects, max_size=5))
def test_every_differing_pixel_lies_in_a_box_and_every_box_is_tight(painted: list[Rect]) -> None:
    after = blank()
    for box in painted:
        after[box.y : box.bottom, box.x : box.right, 1] = 9
    boxes = changed_boxes(blank(), after)
    covered = np.zeros(after.shape[:2], bool)
    for box in boxes:
        covered[box.y : box.bottom, box.x : box.right] = True
        assert after[box.y : box.bottom, box.x : box.right].any()
    assert covered[after[:, :, 1] > 0].all()


def test_the_undefined_byte_is_no_change() -> None:
    after = blank()
    after[:, :, 3] = 255
    assert changed_boxes(blank(), after) == []


def test_rows_of_a_terminal_change_one_by_one() -> None:
    after = blank()
    after[10:20, 5:90] = 1
    after[26:36, 5:40] = 1
    after[26:36, 120:150] = 1
    assert changed_boxes(blank(), after) == [Rect(5, 10, 85, 10), Rect(5, 26, 35, 10), Rect(120, 26, 30, 10)]


def test_a_changed_row_leaves_its_neighbours_standing() -> None:
    lines = [Rect(0, 0, 150, 16), Rect(0, 16, 150, 16), Rect(0, 32, 150, 16)]
    plan = plan_reading([Rect(4, 17, 100, 14)], lines, BOUNDS)
    assert plan.stand == [0, 2]
    assert len(plan.regions) == 1
    assert plan.regions[0].contains(lines[1])


def test_a_single_pixel_at_the_edge_belongs_to_the_line_whose_box_holds_it() -> None:
    lines = [Rect(0, 0, 150, 16), Rect(0, 16, 150, 16)]
    assert plan_reading([Rect(40, 15, 8, 1)], lines, BOUNDS).stand == [1]


def test_a_letter_behind_the_end_of_a_line_takes_the_line_in() -> None:
    line = Rect(0, 16, 60, 16)
    assert plan_reading([Rect(75, 18, 8, 10)], [line], BOUNDS).stand == []
    assert plan_reading([Rect(120, 18, 8, 10)], [line], BOUNDS).stand == [0]


@settings(max_examples=50, deadline=None)
@given(st.lists(rects, min_size=1, max_size=6), st.lists(rects, max_size=12))
def test_every_line_stands_or_lies_wholly_in_a_region(changed: list[Rect], lines: list[Rect]) -> None:
    plan = plan_reading(changed, lines, BOUNDS)
    for box in changed:
        assert any(region.contains(box) for region in plan.regions)
    for index in set(range(len(lines))) - set(plan.stand):
        assert any(region.contains(lines[index]) for region in plan.regions)
    for place, region in enumerate(plan.regions):
        assert BOUNDS.contains(region)
        assert all(region.intersect(other) is None for other in plan.regions[place + 1 :])


@given(st.lists(rects, max_size=12))
def test_parted_boxes_lose_nothing_but_overlap(boxes: list[Rect]) -> None:
    for before, after in zip(boxes, apart(boxes), strict=True):
        assert before.contains(after)
        assert after.h >= 1
        assert after.w == before.w


def test_overlapping_rows_part_halfway() -> None:
    assert apart([Rect(0, 14, 50, 20), Rect(0, 0, 50, 18)]) == [Rect(0, 16, 50, 18), Rect(0, 0, 50, 16)]


def test_a_cut_lies_on_the_grid_inside_the_frame() -> None:
    assert on_grid(Rect(100, 50, 10, 10), 16, 32, Rect(0, 0, 1280, 720)) == Rect(64, 32, 64, 64)
    assert on_grid(Rect(1270, 715, 10, 5), 16, 32, Rect(0, 0, 1280, 720)) == Rect(1248, 672, 32, 48)
