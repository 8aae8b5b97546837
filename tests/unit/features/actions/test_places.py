"""Places of actions: ids stay until somebody knows their pixels, points are checked at once."""

import msgspec
import pytest

from acud.base.errors import InvalidRequest
from acud.features.actions.action_words import actions_text
from acud.features.actions.supervisor.places import element_ids, pressed_points, replace_places, to_display_pixels
from acud.types.actions import Action, Click, Direction, Drag, InputAction, Key, Move, Point, Scroll


def shift(point: Point) -> Point:
    """Return the point as of a region at (100, 50)."""
    return Point(point.x + 100, point.y + 50)


def test_ids_are_found_in_the_order_of_the_gesture() -> None:
    assert element_ids(Drag("a3-4", "t3-1")) == ("t3-1", "a3-4")
    assert element_ids(Drag("a3-4", Point(1, 2))) == ("a3-4",)
    assert element_ids(Click("v3-1")) == element_ids(Move("v3-1")) == ("v3-1",)
    assert element_ids(Click()) == element_ids(Key("a")) == element_ids(Move(Point(1, 2))) == ()


def test_points_are_shifted_and_checked_and_ids_stay() -> None:
    assert to_display_pixels(Drag("a3-4", Point(1, 2)), shift, 640, 480) == Drag("a3-4", Point(101, 52))
    assert to_display_pixels(Click("t3-1"), shift, 640, 480) == Click("t3-1")
    with pytest.raises(InvalidRequest, match="off the display"):
        to_display_pixels(Drag("a3-4", Point(600, 2)), shift, 640, 480)


@pytest.mark.parametrize(("action", "expected"), [
    (Move("t3-1"), Move(Point(7, 8))), (Click("t3-1", count=2), Click(Point(7, 8), count=2)),
    (Drag("t3-1", "a3-4"), Drag(Point(7, 8), Point(9, 9))), (Drag(Point(1, 1), "a3-4"), Drag(Point(1, 1), Point(9, 9))),
    (Key("a"), Key("a")),
])  # fmt: skip
def test_ids_become_pixels(action: InputAction, expected: InputAction) -> None:
    assert replace_places(action, {"t3-1": Point(7, 8), "a3-4": Point(9, 9)}) == expected


@pytest.mark.parametrize(("action", "expected"), [
    (Click(Point(7, 8)), (Point(7, 8),)), (Click(), (Point(1, 2),)),
    (Scroll(Direction.UP, at=Point(7, 8)), (Point(7, 8),)),
    (Drag(Point(9, 9), Point(7, 8)), (Point(7, 8), Point(9, 9))), (Move(Point(7, 8)), ()), (Key("a"), ()),
])  # fmt: skip
def test_where_an_action_pressed(action: InputAction, expected: tuple[Point, ...]) -> None:
    assert pressed_points(action, Point(1, 2)) == expected


def test_the_wire_takes_points_and_ids_and_nothing_else() -> None:
    assert msgspec.convert({"type": "click", "at": "t3-12"}, Action) == Click("t3-12")
    assert msgspec.convert({"type": "click", "at": [1, 2]}, Action) == Click(Point(1, 2))
    for wrong in ("Save", "t3", "t0-1", "t3-1; rm", "T3-1", "t3-1\n"):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"type": "click", "at": wrong}, Action)


def test_words_name_the_id() -> None:
    assert (
        actions_text((Click("t3-12"), Scroll(direction="down", at="a3-4"))) == "click at t3-12; scroll down 3 at a3-4"
    )  # type: ignore[arg-type]
