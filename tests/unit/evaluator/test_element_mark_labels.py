"""Labels: on the picture, beside what they name, not on one another."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from acud.evaluator.element_marks import place_labels
from acud.types import Rect

LABEL = (32, 13)


def overlapping(labels: list[Rect]) -> int:
    """Return how many pairs of labels cover a common pixel."""
    return sum(one.intersect(other) is not None for one, other in combinations(labels, 2))


def test_a_lone_label_sits_on_the_upper_left_corner() -> None:
    assert place_labels([Rect(100, 100, 60, 20)], [LABEL], 1280, 720) == [Rect(100, 87, *LABEL)]


def test_at_the_top_edge_it_goes_below() -> None:
    assert place_labels([Rect(100, 2, 60, 20)], [LABEL], 1280, 720) == [Rect(100, 22, *LABEL)]


def test_a_hundred_elements_on_720p_get_labels_that_cover_no_other_and_hardly_an_element() -> None:
    rows = [Rect(20, 50 + 19 * row, 300, 13) for row in range(34)]
    tools = [Rect(8 + 70 * column, 5, 60, 20) for column in range(6)]
    buttons = [Rect(700 + 140 * column, 50 + 44 * row, 91, 27) for row in range(15) for column in range(4)]
    boxes = rows + tools + buttons
    labels = place_labels(boxes, [LABEL] * len(boxes), 1280, 720)
    assert len(boxes) == 100
    assert overlapping(labels) == 0
    whole = Rect(0, 0, 1280, 720)
    assert all(whole.contains(label) for label in labels)
    covered = [box for box in boxes for label in labels if box.intersect(label)]
    assert covered == []


def test_rows_without_a_gap_put_their_labels_beside() -> None:
    boxes = [Rect(200, 100 + 14 * row, 300, 14) for row in range(20)]
    labels = place_labels(boxes, [LABEL] * 20, 1280, 720)
    assert overlapping(labels) == 0
    assert not any(box.intersect(label) for box in boxes for label in labels)


boxes_anywhere = st.builds(Rect, st.integers(-50, 400), st.integers(-50, 300), st.integers(0, 500), st.integers(0, 400))


@settings(deadline=None, max_examples=60)
@given(st.lists(boxes_anywhere, max_size=40), st.integers(40, 400), st.integers(20, 300))
def test_labels_stay_on_the_picture_whatever_the_boxes(boxes: list[Rect], width: int, height: int) -> None:
    labels = place_labels(boxes, [LABEL] * len(boxes), width, height)
    assert len(labels) == len(boxes)
    assert all(Rect(0, 0, width, height).contains(label) for label in labels)
    assert labels == place_labels(boxes, [LABEL] * len(boxes), width, height)
