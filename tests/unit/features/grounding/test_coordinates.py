"""Coordinates from what a model counts in to the display, at many sizes, exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.evaluator.judges.judge import JudgePicture
from acud.evaluator.judges.picture_coordinates import Size, box_to_display, rescale, to_display
from acud.features.grounding.evaluator.method import fitting, smart_size
from acud.types import Rect
from acud.types.actions import Point

SIDE = st.integers(1, 8192)
LOW, HIGH = 100 * 28 * 28, 16384 * 28 * 28


@pytest.mark.parametrize(("view", "limit", "size"), [
    ((1280, 720), HIGH, (1288, 728)), ((1920, 1080), HIGH, (1932, 1092)), ((1920, 1080), 1280 * 784, (1316, 728)),
    ((3840, 2160), HIGH, (3836, 2156)), ((1080, 1920), HIGH, (1092, 1932)), ((224, 224), HIGH, (280, 280)),
    ((20, 10), HIGH, (420, 224)), ((1367, 769), HIGH, (1372, 756)), ((8192, 8192), HIGH, (3584, 3584)),
])  # fmt: skip
def test_the_model_s_own_resizing(view: tuple[int, int], limit: int, size: tuple[int, int]) -> None:
    assert smart_size(*view, LOW, limit) == size


@given(SIDE, SIDE, st.sampled_from([1280 * 784, HIGH]))
def test_a_resized_picture_is_left_as_it_is(width: int, height: int, limit: int) -> None:
    size = smart_size(width, height, LOW, limit)
    if size is None:
        assert max(width, height) > 200 * min(width, height)
        return
    assert size.width % 28 == size.height % 28 == 0
    assert size.width * size.height <= limit or 28 in size
    if max(size) <= 20 * min(size):
        assert size.width * size.height >= LOW
        assert smart_size(*size, LOW, limit) == size


@pytest.mark.parametrize("view", [(1280, 720), (1920, 1080), (3840, 2160), (720, 1280), (33, 17), (1367, 769), (1, 1)])
@pytest.mark.parametrize("shown", [(1280, 720), (960, 540), (1288, 728), (1000, 1000), (28, 28)])
def test_every_corner_and_the_middle_come_back(view: tuple[int, int], shown: tuple[int, int]) -> None:
    picture = JudgePicture(b"", *shown, *view)
    at = Rect(100, 50, *view)
    assert to_display((0, 0), picture, at) == Point(100, 50)
    assert to_display(shown, picture, at) == Point(100 + view[0] - 1, 50 + view[1] - 1)
    middle = to_display((shown[0] / 2, shown[1] / 2), picture, at)
    assert abs(middle.x - 100 - view[0] / 2) <= 0.5
    assert abs(middle.y - 50 - view[1] / 2) <= 0.5


@given(SIDE, SIDE, SIDE, SIDE, st.data())
def test_a_pixel_goes_to_the_picture_and_back(vw: int, vh: int, pw: int, ph: int, data: st.DataObject) -> None:
    x, y = data.draw(st.integers(0, vw - 1)), data.draw(st.integers(0, vh - 1))
    there = rescale((x, y), Size(vw, vh), Size(pw, ph))
    assert to_display(there, JudgePicture(b"", pw, ph, vw, vh), Rect(7, 9, vw, vh)) == Point(7 + x, 9 + y)


@given(SIDE, SIDE, st.data())
def test_a_model_s_whole_pixel_is_off_by_half_a_shown_pixel_at_most(vw: int, pw: int, data: st.DataObject) -> None:
    x = data.draw(st.integers(0, vw - 1))
    shown = round(x * pw / vw)
    back = to_display((shown, 0), JudgePicture(b"", pw, 1, vw, 1), Rect(0, 0, vw, 1)).x
    assert abs(back - x) <= vw / pw / 2 + 0.5 + 1e-9


@given(SIDE, SIDE, st.integers(1, 4000), st.integers(1, 4_000_000))
def test_fitting_keeps_both_limits_and_never_enlarges(width: int, height: int, side: int, area: int) -> None:
    size = fitting(width, height, side, area)
    assert 1 <= size.width <= width
    assert 1 <= size.height <= height
    assert max(size) <= side
    assert size.width * size.height <= area or 1 in size


def test_boxes_have_area_and_their_place_on_the_display() -> None:
    picture = JudgePicture(b"", 100, 100, 200, 400)
    assert box_to_display((10, 10, 20, 30), picture, Rect(5, 6, 200, 400)) == Rect(25, 46, 20, 80)
    assert box_to_display((10, 10, 10, 10), picture, Rect(0, 0, 200, 400)) == Rect(20, 40, 1, 1)
