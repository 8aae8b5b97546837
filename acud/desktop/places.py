"""From the points of an action to display pixels, checked before anything is done."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from acud.desktop.actions import Action, Click, Drag, Move, Point, Scroll, WindowDo, WindowVerb
from acud.errors import InvalidRequest

Spot = Callable[[Point], Point]
"""From a point as the request gives it to the display's pixel."""


def placed(action: Action, spot: Spot, width: int, height: int) -> Action:
    """Return `action` with its points as pixels of a display of `width` x `height`.

    Raises: InvalidRequest for a point beside the display, which it names with its size, and for a window's move or
    resize without the place or size. A window may be moved partly off the display.
    """

    def on_display(point: Point | None) -> Point | None:
        return None if point is None else _checked(spot(point), point, width, height)

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
