"""Which display pixel a point of a request means: of the display, of a window, of a region, or of a picture."""

from __future__ import annotations

from acud.errors import Conflict, InvalidRequest, NotFound
from acud.features.actions.places import Spot
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Target, WindowInfo
from acud.types.actions import Point
from acud.types.picture_views import ViewGeometry
from acud.waits.targets import window_named

ACTIVE = "active"
"""Names the focused window."""


def spot_of(target: Target, view: ViewGeometry | None, watched: WatchedDisplay, width: int, height: int) -> Spot:
    """Return the way from a request's points to pixels of `watched`, which is `width` x `height` now.

    A window's points are from the top left of its client area, a region's from its own. Raises: InvalidRequest for a
    view of another display or size; NotFound or Conflict for a window that is gone or has no pixels.
    """
    if view is not None:
        return _of_view(view, target, watched, width, height)
    if target.window:
        bounds = shown_window(watched, target.window).bounds
        return _shifted(bounds.x, bounds.y)
    if target.region is not None:
        return _shifted(target.region.x, target.region.y)
    return _shifted(0, 0)


def _shifted(x: int, y: int) -> Spot:
    return lambda point: Point(point.x + x, point.y + y)


def _of_view(view: ViewGeometry, target: Target, watched: WatchedDisplay, width: int, height: int) -> Spot:
    if target.window or target.region is not None:
        raise InvalidRequest("points are of a target or of a view, not of both", hint="leave the target out")
    if view.display != watched.name:
        raise InvalidRequest(
            f"the view is of display {view.display}, the request of {watched.name}", hint="leave the display out"
        )
    now = view.on(width, height)
    return (now.followed(shown_window(watched, str(view.window)).bounds) if view.window else now).spot


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
        window = window_named(name, watched.windows)
    if window is None:
        told = "no window has the focus" if name == ACTIVE else f"no window matches {name!r}"
        titles = ", ".join(repr(w.title) for w in watched.windows[:8]) or "none"
        raise NotFound(f"{told} on {watched.name}", hint=f"windows there: {titles}")
    return window
