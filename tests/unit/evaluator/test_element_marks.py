"""Marks as drawn: seen on any ground, nothing of an element covered by its own box."""

import numpy as np
import pytest

from acud.evaluator.element_marks import BLACK, ON_DARK, ON_LIGHT, WHITE, Colour, draw_marks, scale_marks
from acud.types import Rect
from acud.types.scene import ElementMark


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio of two colours (WCAG 2.1)."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Colour) -> float:
    parts = [part / 255 for part in colour]
    r, g, b = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_every_label_can_be_read_on_its_colour_and_every_colour_told_from_its_ground() -> None:
    assert all(contrast(colour, WHITE) >= 4.5 for colour in ON_LIGHT)
    assert all(contrast(colour, BLACK) >= 7 for colour in ON_DARK)
    assert all(contrast(colour, (40, 40, 40)) >= 4.5 for colour in ON_DARK)


@pytest.mark.parametrize("ground", [0, 60, 128, 200, 255])
def test_a_box_shows_on_its_ground_and_leaves_its_element_alone(ground: int) -> None:
    before = np.full((200, 300, 4), ground, np.uint8)
    before[90:110, 100:160, :3] = [1, 2, 3]
    after = draw_marks(before, [ElementMark("t3-12", "text", Rect(100, 90, 60, 20))])
    assert after.shape == before.shape
    assert (after[90:110, 100:160, :3] == [1, 2, 3]).all()
    line = tuple(int(part) for part in after[89, 130, 2::-1])
    halo = tuple(int(part) for part in after[88, 130, 2::-1])
    assert line in ON_DARK + ON_LIGHT
    assert {halo} <= {WHITE, BLACK}
    ground_colour = (ground,) * 3
    assert max(contrast(line, ground_colour), contrast(halo, ground_colour)) >= 3  # type: ignore[arg-type]
    assert (before[:, :, :3] == ground).sum() > (after[:, :, :3] == ground).sum()


def test_no_mark_changes_nothing_and_the_picture_given_is_left_as_it_was() -> None:
    before = np.random.default_rng(1).integers(0, 256, (60, 80, 4), dtype=np.uint8)
    kept = before.copy()
    assert (draw_marks(before, [])[:, :, :3] == before[:, :, :3]).all()
    draw_marks(before, [ElementMark("a1-1", "widget", Rect(10, 20, 30, 10))])
    assert (before == kept).all()


def test_boxes_off_the_picture_and_without_area_are_drawn_where_there_is_room() -> None:
    before = np.zeros((60, 80, 4), np.uint8)
    odd = [Rect(-50, -50, 10, 10), Rect(500, 500, 5, 5), Rect(20, 20, 0, 0), Rect(-10, -10, 4000, 4000)]
    marks = [ElementMark(f"v1-{n}", "seen", box) for n, box in enumerate(odd)]
    assert draw_marks(before, marks).shape == (60, 80, 4)


def test_marks_scale_with_their_picture() -> None:
    mark = ElementMark("t1-1", "text", Rect(101, 51, 3, 1))
    assert scale_marks([mark], 0.5, 0.25) == [ElementMark("t1-1", "text", Rect(50, 13, 2, 1))]
    assert scale_marks([mark], 1.0, 1.0) == [mark]
