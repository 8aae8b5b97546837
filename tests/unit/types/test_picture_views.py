"""View tokens: every pixel of a picture finds its display pixel, and the way back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.base.errors import InvalidRequest
from acud.features.actions.supervisor.places import to_display_pixels
from acud.types import Rect
from acud.types.actions import Click, Drag, Move, Point, TypeText, WindowDo, WindowVerb
from acud.types.picture_views import ViewGeometry, encode, parse


@st.composite
def views(draw: st.DrawFn) -> ViewGeometry:
    """A picture of a part of a display, as large or smaller."""
    w, h = draw(st.integers(1, 9000)), draw(st.integers(1, 9000))
    x, y = draw(st.integers(0, 9000)), draw(st.integers(0, 9000))
    across, down = draw(st.integers(1, w)), draw(st.integers(1, h))
    window = draw(st.sampled_from([0, 4194307]))
    return ViewGeometry(":100", x + w, y + h, Rect(x, y, w, h), across, down, window)


@given(views(), st.data())
def test_every_pixel_lies_in_the_crop_within_half_a_pixel(view: ViewGeometry, data: st.DataObject) -> None:
    point = Point(data.draw(st.integers(0, view.across - 1)), data.draw(st.integers(0, view.down - 1)))
    pixel = view.spot(point)
    assert view.crop.contains(Rect(pixel.x, pixel.y, 1, 1))
    assert abs((pixel.x - view.crop.x + 0.5) * view.across / view.crop.w - (point.x + 0.5)) <= 0.5
    assert abs((pixel.y - view.crop.y + 0.5) * view.down / view.crop.h - (point.y + 0.5)) <= 0.5


@given(views())
def test_edges_and_tokens(view: ViewGeometry) -> None:
    last = Point(view.across - 1, view.down - 1)
    assert view.spot(Point(view.across, view.down)) == view.spot(last)
    assert parse(encode(view)) == view
    for beside in (Point(-1, 0), Point(0, -1), Point(view.across + 1, 0), Point(0, view.down + 1)):
        with pytest.raises(InvalidRequest, match=f"which is {view.across}x{view.down}"):
            view.spot(beside)


def test_a_picture_in_full_size_is_the_display() -> None:
    view = parse(":100/1280x720/10,20,300,200@300x200")
    assert view.spot(Point(0, 0)) == Point(10, 20)
    assert view.spot(Point(299, 199)) == Point(309, 219)


def test_the_corners_of_a_scaled_picture() -> None:
    view = parse(":100/1280x720/0,0,1280,720@960x540")
    assert view.spot(Point(0, 0)) == Point(0, 0)
    assert view.spot(Point(959, 539)) == Point(1279, 719)
    assert view.spot(Point(480, 270)) == Point(640, 360)


@pytest.mark.parametrize(
    "token", ["", "screen", ":1/9x9/0,0,1,1", ":1/0x720/0,0,1,1@1x1", ":1/9x9/0,0,1,1@0x1", ":1/9x9/0,0,1,1@1x1 "]
)
def test_words_that_are_no_views(token: str) -> None:
    with pytest.raises(InvalidRequest):
        parse(token)


def test_a_view_of_another_time() -> None:
    view = parse(":100.w77/1280x720/50,60,200,100@100x50")
    assert view.on(1280, 720) is view
    with pytest.raises(InvalidRequest, match="at 1280x720; it is 800x600 now"):
        view.on(800, 600)
    assert view.follow(Rect(-5, 7, 200, 100)).spot(Point(0, 0)) == Point(-4, 8)
    with pytest.raises(InvalidRequest, match="at 200x100; it is 200x101 now"):
        view.follow(Rect(50, 60, 200, 101))


# ---- points of actions -----------------------------------------------------------------------------------------------


def shift(point: Point) -> Point:
    return Point(point.x + 100, point.y + 50)


def test_points_are_placed() -> None:
    assert to_display_pixels(Move(Point(1, 2)), shift, 640, 480) == Move(Point(101, 52))
    assert to_display_pixels(Click(Point(1, 2), count=2), shift, 640, 480) == Click(Point(101, 52), count=2)
    assert to_display_pixels(Click(), shift, 640, 480) == Click()
    assert to_display_pixels(Drag(Point(3, 4), Point(1, 2)), shift, 640, 480) == Drag(Point(103, 54), Point(101, 52))
    assert to_display_pixels(Drag(Point(3, 4)), shift, 640, 480) == Drag(Point(103, 54))
    assert to_display_pixels(TypeText("x"), shift, 640, 480) == TypeText("x")
    moved = WindowDo("Work", WindowVerb.MOVE, Point(-400, 0))
    assert to_display_pixels(moved, shift, 640, 480) == WindowDo("Work", WindowVerb.MOVE, Point(-300, 50))


def test_points_beside_the_display() -> None:
    with pytest.raises(InvalidRequest, match=r"640,50 \(from 540,0\) is off the display, which is 640x480"):
        to_display_pixels(Move(Point(540, 0)), shift, 640, 480)
    with pytest.raises(InvalidRequest, match=r"-1,50 \(from -101,0\)"):
        to_display_pixels(Drag(Point(0, 0), Point(-101, 0)), shift, 640, 480)
    with pytest.raises(InvalidRequest, match="needs the place"):
        to_display_pixels(WindowDo("Work", WindowVerb.MOVE), shift, 640, 480)
    with pytest.raises(InvalidRequest, match="needs its new size"):
        to_display_pixels(WindowDo("Work", WindowVerb.RESIZE), shift, 640, 480)
