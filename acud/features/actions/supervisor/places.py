"""Which display pixel a point of a request means: of the display, of a window, of a region, or of a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from acud.base.errors import Conflict, InvalidRequest, NotFound
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Target, WindowInfo
from acud.types.actions import Action, Click, Drag, Move, Place, Point, Scroll, WindowDo, WindowVerb
from acud.types.picture_views import ViewGeometry
from acud.waits.targets import find_named_window

A = TypeVar("A", bound=Action)
Spot = Callable[[Point], Point]
"""From a point as the request gives it to the display's pixel."""


def to_display_pixels(action: Action, spot: Spot, width: int, height: int) -> Action:
    """Return `action` with its points as pixels of a display of `width` x `height`; ids of elements stay.

    Raises: InvalidRequest for a point beside the display, which it names with its size, and for a window's move or
    resize without the place or size. A window may be moved partly off the display.
    """
    if isinstance(action, WindowDo):
        return _convert_window_action(action, spot)
    pixels = {
        place: _check_on_display(spot(place), place, width, height)
        for place in _list_places(action)
        if isinstance(place, Point)
    }
    return replace_places(action, pixels)


def element_ids(action: Action) -> tuple[str, ...]:
    """Return the ids of elements that `action` names as places, in the order it goes there."""
    return tuple(place for place in _list_places(action) if isinstance(place, str))


def pressed_points(action: Action, cursor: Point | None) -> tuple[Point, ...]:
    """Return the display pixels where `action`, as it was done, pressed or turned the wheel; a press at no place of its
    own was at `cursor`, where the pointer is after it.
    """
    places = () if isinstance(action, Move) else _list_places(action)
    return tuple(place for place in ((cursor,) if places == (None,) else places) if isinstance(place, Point))


def _list_places(action: Action) -> tuple[Place | None, ...]:
    match action:
        case Move(to=to):
            return (to,)
        case Drag(to=to, start=start):
            return (start, to)
        case Click(at=at) | Scroll(at=at):
            return (at,)
    return ()


def replace_places(action: A, pixels: Mapping[Any, Point]) -> A:
    """Return `action` with the display pixel of each place that `pixels` has: a point or the id of an element."""
    match action:
        case Move(to=to):
            return replace(action, to=pixels.get(to, to))
        case Drag(to=to, start=start):
            return replace(action, to=pixels.get(to, to), start=pixels.get(start, start))
        case Click(at=at) | Scroll(at=at):
            return replace(action, at=pixels.get(at, at))
    return action


def _check_on_display(pixel: Point, requested_point: Point, width: int, height: int) -> Point:
    if 0 <= pixel.x < width and 0 <= pixel.y < height:
        return pixel
    told = f"{pixel.x},{pixel.y}" + (
        f" (from {requested_point.x},{requested_point.y})" if requested_point != pixel else ""
    )
    raise InvalidRequest(
        f"{told} is off the display, which is {width}x{height}", hint=f"x is 0 to {width - 1}, y is 0 to {height - 1}"
    )


def _convert_window_action(action: WindowDo, spot: Spot) -> WindowDo:
    if action.do is WindowVerb.MOVE:
        if action.to is None:
            raise InvalidRequest("a window's move needs the place it is to move to", hint='"to": [x, y]')
        return replace(action, to=spot(action.to))
    if action.do is WindowVerb.RESIZE and action.size is None:
        raise InvalidRequest("a window's resize needs its new size", hint='"size": [width, height]')
    return action


ACTIVE = "active"
"""Names the focused window."""


def spot_of(target: Target, view: ViewGeometry | None, watched: WatchedDisplay, width: int, height: int) -> Spot:
    """Return the way from a request's points to pixels of `watched`, which is `width` x `height` now.

    A window's points are from the top left of its client area, a region's from its own. Raises: InvalidRequest for a
    view of another display or size; NotFound or Conflict for a window that is gone or has no pixels.
    """
    if view is not None:
        return _map_from_view(view, target, watched, width, height)
    if target.window:
        bounds = shown_window(watched, target.window).bounds
        return _shift_by(bounds.x, bounds.y)
    if target.region is not None:
        return _shift_by(target.region.x, target.region.y)
    return _shift_by(0, 0)


def _shift_by(x: int, y: int) -> Spot:
    return lambda point: Point(point.x + x, point.y + y)


def _map_from_view(view: ViewGeometry, target: Target, watched: WatchedDisplay, width: int, height: int) -> Spot:
    if target.window or target.region is not None:
        raise InvalidRequest("points are of a target or of a view, not of both", hint="leave the target out")
    if view.display != watched.name:
        raise InvalidRequest(
            f"the view is of display {view.display}, the request of {watched.name}", hint="leave the display out"
        )
    now = view.on(width, height)
    return (now.follow(shown_window(watched, str(view.window)).bounds) if view.window else now).spot


def shown_window(watched: WatchedDisplay, name: str) -> WindowInfo:
    """Return the window that `name` means (`active`, an id, a part of a title), which is not hidden.

    Raises: NotFound naming those there are; Conflict when it has no place on the display.
    """
    window = named_window(watched, name)
    if window.visibility == "unmapped":
        raise Conflict(f"the window {window.title!r} is minimised or hidden", hint="restore it, or focus it, first")
    return window


def named_window(watched: WatchedDisplay, name: str) -> WindowInfo:
    """Return the window that `name` means; of several with that title, the topmost that can be seen.

    Raises: NotFound naming those there are.
    """
    if name == ACTIVE:
        window = next((w for w in watched.windows if w.window_id == watched.focused), None)
    else:
        window = find_named_window(name, watched.windows)
    if window is None:
        told = "no window has the focus" if name == ACTIVE else f"no window matches {name!r}"
        titles = ", ".join(repr(w.title) for w in watched.windows[:8]) or "none"
        raise NotFound(f"{told} on {watched.name}", hint=f"windows there: {titles}")
    return window
