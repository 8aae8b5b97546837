"""From the points of an action to display pixels, checked before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from acud.errors import InvalidRequest
from acud.types.actions import Action, Click, Drag, InputAction, Move, Place, Point, Scroll, WindowDo, WindowVerb

Spot = Callable[[Point], Point]
"""From a point as the request gives it to the display's pixel."""


def to_display_pixels(action: Action, spot: Spot, width: int, height: int) -> Action:
    """Return `action` with its points as pixels of a display of `width` x `height`; ids of elements stay.

    Raises: InvalidRequest for a point beside the display, which it names with its size, and for a window's move or
    resize without the place or size. A window may be moved partly off the display.
    """

    def on_display(place: Place | None) -> Place | None:
        return _checked(spot(place), place, width, height) if isinstance(place, Point) else place

    match action:
        case Move(to=to) | Drag(to=to, start=None):
            return replace(action, to=on_display(to))
        case Drag(to=to, start=start):
            return replace(action, to=on_display(to), start=on_display(start))
        case Click(at=at) | Scroll(at=at):
            return replace(action, at=on_display(at))
        case WindowDo():
            return _window(action, spot)
    return action


def element_ids(action: Action) -> tuple[str, ...]:
    """Return the ids of elements that `action` names as places, in the order it goes there."""
    match action:
        case Move(to=to):
            places: tuple[Place | None, ...] = (to,)
        case Drag(to=to, start=start):
            places = (start, to)
        case Click(at=at) | Scroll(at=at):
            places = (at,)
        case _:
            places = ()
    return tuple(place for place in places if isinstance(place, str))


def fill_element_points(action: InputAction, pixels: Mapping[str, Point]) -> InputAction:
    """Return `action` with the display pixel of each element in place of its id. Raises: KeyError for one not given."""

    def found(place: Place | None) -> Place | None:
        return pixels[place] if isinstance(place, str) else place

    match action:
        case Move(to=to):
            return replace(action, to=found(to))
        case Drag(to=to, start=start):
            return replace(action, to=found(to), start=found(start))
        case Click(at=at) | Scroll(at=at):
            return replace(action, at=found(at))
    return action


def pressed_points(action: Action, cursor: Point | None) -> tuple[Point, ...]:
    """Return the display pixels where `action`, as it was done, pressed or turned the wheel; a press at no place of its
    own was at `cursor`, where the pointer is after it.
    """
    match action:
        case Click(at=at) | Scroll(at=at):
            places: tuple[Place | None, ...] = (at or cursor,)
        case Drag(to=to, start=start):
            places = (start, to)
        case _:
            places = ()
    return tuple(place for place in places if isinstance(place, Point))


def _checked(pixel: Point, given: Point, width: int, height: int) -> Point:
    if 0 <= pixel.x < width and 0 <= pixel.y < height:
        return pixel
    told = f"{pixel.x},{pixel.y}" + (f" (from {given.x},{given.y})" if given != pixel else "")
    raise InvalidRequest(
        f"{told} is off the display, which is {width}x{height}", hint=f"x is 0 to {width - 1}, y is 0 to {height - 1}"
    )


def _window(action: WindowDo, spot: Spot) -> WindowDo:
    if action.do is WindowVerb.MOVE:
        if action.to is None:
            raise InvalidRequest("a window's move needs the place it is to move to", hint='"to": [x, y]')
        return replace(action, to=spot(action.to))
    if action.do is WindowVerb.RESIZE and action.size is None:
        raise InvalidRequest("a window's resize needs its new size", hint='"size": [width, height]')
    return action
