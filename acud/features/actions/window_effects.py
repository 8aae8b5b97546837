"""Where the effect of an action can be seen, and what became of windows: pure rules over lists of windows.

A click can change the window that it reaches, windows of the same program, and the list of windows. What other programs
paint meanwhile is no effect of it: their windows are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from msgspec import Struct

from acud.types import TILE_PX, Rect, WindowInfo, family_of, window_at
from acud.types.action_effects import MAX_TOLD, FocusNow, WindowChange
from acud.types.actions import Point

_FRAME_PX = 8
_TITLE_PX = 40
"""A window manager's frame, drawn anew when the focus moves, where no list of windows tells of it."""


class EffectArea(Struct, frozen=True):
    """Where an effect shows. `box`: around it, in display pixels; `ignore`: what of that is others', relative to `box`.

    `family`: the windows whose coming, going and titles are effects; empty where no window was reached.
    """

    box: Rect
    ignore: tuple[Rect, ...] = ()
    family: frozenset[int] = frozenset()


def effect_area(screen: Rect, windows: Sequence[WindowInfo], points: Sequence[Point], focused: int) -> EffectArea:
    """Return where an action at `points` can show, or one of the keyboard (no points: in the window of `focused`).

    `windows`: topmost first. On the bare root that is what no window covers, frames left out. Without a focused window
    nothing is known of who gets the keys: it is the whole screen.
    """
    if points:
        reached = [window_at(windows, point.x, point.y) for point in points]
    else:
        reached = [next((one for one in windows if one.window_id == focused), None)]
        if reached == [None]:
            return EffectArea(screen)
    family = frozenset(one for window in reached if window is not None for one in family_of(window, windows))
    shown = [one for one in windows if one.visibility != "unmapped"]
    if not family:
        others = _parts(screen, [_framed(one) for one in shown], inside=True)
        # Maybe the frame around a window was reached, which can close it.
        near = [one for one in shown if any(_framed(one).holds(point.x, point.y) for point in points)][:1]
        return EffectArea(screen, tuple(others), family_of(near[0], windows) if near else frozenset())
    free: list[Rect] = []
    above: list[Rect] = []
    for one in shown:
        if one.window_id in family and not _gives_way(one, points):
            free += _parts(one.bounds, above, inside=False)
        above.append(one.outside)
    free = [part for box in free if (part := box.intersect(screen)) is not None]
    if not free:
        return EffectArea(screen, family=family)
    box = _around(free)
    ignore = _parts(box, free, inside=False)
    return EffectArea(box, tuple(part.shift(-box.x, -box.y) for part in ignore), family)


def target_area(screen: Rect, windows: Sequence[WindowInfo], target: WindowInfo) -> EffectArea:
    """Return where an effect in the one window `target` can show: where it is now, without what others cover."""
    box = target.bounds.intersect(screen)
    if box is None:
        return EffectArea(screen, family=family_of(target, windows))
    family = family_of(target, windows)
    above: list[Rect] = []
    for one in windows:
        if one.window_id == target.window_id:
            break
        if one.visibility != "unmapped" and one.window_id not in family:
            above.append(one.outside)
    ignore = tuple(part.shift(-box.x, -box.y) for part in _parts(box, above, inside=True))
    return EffectArea(box, ignore, family)


def without(area: EffectArea, *boxes: Rect) -> EffectArea:
    """Return `area` without display `boxes` too."""
    more = tuple(part.shift(-area.box.x, -area.box.y) for box in boxes if (part := box.intersect(area.box)))
    return EffectArea(area.box, (*area.ignore, *more), area.family)


def on_tiles(area: EffectArea, screen: Rect) -> EffectArea:
    """Return `area` in whole tiles: changes are told by the tile, and one that is others' in part would count as theirs
    and ours. An area too small for that stays as it is.
    """
    box = _inner(area.box, screen)
    if min(box.w, box.h) < 2 * TILE_PX:
        return area
    outer = (_outer(one.shift(area.box.x, area.box.y)).intersect(box) for one in area.ignore)
    return EffectArea(box, tuple(one.shift(-box.x, -box.y) for one in outer if one is not None), area.family)


def _inner(box: Rect, screen: Rect) -> Rect:
    x, y = -(-box.x // TILE_PX) * TILE_PX, -(-box.y // TILE_PX) * TILE_PX
    right = box.right if box.right >= screen.right else box.right // TILE_PX * TILE_PX
    bottom = box.bottom if box.bottom >= screen.bottom else box.bottom // TILE_PX * TILE_PX
    return Rect(x, y, right - x, bottom - y)


def _outer(box: Rect) -> Rect:
    x, y = box.x // TILE_PX * TILE_PX, box.y // TILE_PX * TILE_PX
    return Rect(x, y, -(-box.right // TILE_PX) * TILE_PX - x, -(-box.bottom // TILE_PX) * TILE_PX - y)


def window_changes(before: Sequence[WindowInfo], now: Sequence[WindowInfo]) -> tuple[WindowChange, ...]:
    """Return what became of windows: those that opened first, then closed, then got another title.

    A popup without a title (a menu, a tip) is named by nothing, and told all the same.
    """
    was, present = {one.window_id: one for one in before}, {one.window_id: one for one in now}
    opened = [WindowChange("opened", one.window_id, one.title, one.kind) for one in now if one.window_id not in was]
    closed = [
        WindowChange("closed", one.window_id, one.title, one.kind) for one in before if one.window_id not in present
    ]
    renamed = [
        WindowChange("retitled", one.window_id, one.title, one.kind, was[one.window_id].title)
        for one in now
        if one.window_id in was and was[one.window_id].title != one.title
    ]
    return (*opened, *closed, *renamed)[:MAX_TOLD]


def focus_now(windows: Sequence[WindowInfo], focused: int, before: int, role: str = "", name: str = "") -> FocusNow:
    """Return where the focus is now (the X window `focused`, the widget `role` `name`); `before`: where it was."""
    title = next((one.title for one in windows if one.window_id == focused), "")
    return FocusNow(title, focused, role, name, moved=focused != before)


def is_effect(
    change: WindowChange,
    area: EffectArea,
    before: Sequence[WindowInfo],
    now: Sequence[WindowInfo],
    points: Sequence[Point] = (),
) -> bool:
    """Tell whether a change of windows, from `before` to `now`, shows that an action had an effect.

    A window of its own that opens is one whoever's it is: a program that was started has another process. A popup is
    one only if it is of the program that was reached, or appears where the bare root was clicked; what closes or is
    renamed must be of the program. A popup that goes because something else was clicked (a tip) is none.
    """
    if change.window_id in area.family:
        was = next((one for one in before if one.window_id == change.window_id), None)
        return was is None or not _gives_way(was, points)
    window = next((one for one in now if one.window_id == change.window_id), None)
    if change.change != "opened" or window is None:
        return False
    if window.kind != "popup":
        return True
    if area.family:
        return bool(family_of(window, now) & area.family)
    return any(_framed(window).holds(point.x, point.y) for point in points)


def visible_middle(window: WindowInfo, windows: Sequence[WindowInfo], screen: Rect) -> Point | None:
    """Return the middle of the largest part of `window` that no other covers, on a `screen`; None where none shows."""
    part = max(shown_parts(window, windows, screen), key=lambda one: one.area, default=None)
    return Point(part.x + part.w // 2, part.y + part.h // 2) if part is not None else None


def shown_parts(window: WindowInfo, windows: Sequence[WindowInfo], box: Rect) -> list[Rect]:
    """Return the parts of `window` inside of `box` that no other window covers, which together are all of it."""
    shown = window.bounds.intersect(box)
    return _parts(shown, boxes_above(window, windows), inside=False) if shown is not None else []


def boxes_above(window: WindowInfo, windows: Sequence[WindowInfo]) -> list[Rect]:
    """Return the boxes of the windows above `window`, with their frames."""
    above = takewhile(lambda one: one.window_id != window.window_id, windows)
    return [one.outside for one in above if one.visibility != "unmapped"]


def _gives_way(window: WindowInfo, points: Sequence[Point]) -> bool:
    """Tell whether a window is a popup that an action at `points` does not reach: it goes whatever they do."""
    return (
        window.kind == "popup" and bool(points) and not any(window.bounds.holds(point.x, point.y) for point in points)
    )


def _framed(window: WindowInfo) -> Rect:
    if window.frame is not None:
        return window.frame
    box = window.bounds
    return Rect(box.x - _FRAME_PX, box.y - _TITLE_PX, box.w + 2 * _FRAME_PX, box.h + _TITLE_PX + _FRAME_PX)


def _around(boxes: Iterable[Rect]) -> Rect:
    found = list(boxes)
    x, y = min(one.x for one in found), min(one.y for one in found)
    return Rect(x, y, max(one.right for one in found) - x, max(one.bottom for one in found) - y)


def _parts(box: Rect, others: Sequence[Rect], *, inside: bool) -> list[Rect]:
    """Return boxes that together are `box` where `others` are (`inside`), or where none of them is."""
    if inside:
        return [part for other in others if (part := other.intersect(box)) is not None]
    left = [box]
    for other in others:
        left = [rest for part in left for rest in _rest(part, other)]
    return left


def _rest(part: Rect, hole: Rect) -> list[Rect]:
    """Return `part` without `hole` in boxes that do not overlap."""
    cut = part.intersect(hole)
    if cut is None:
        return [part]
    strips = (
        Rect(part.x, part.y, part.w, cut.y - part.y),
        Rect(part.x, cut.bottom, part.w, part.bottom - cut.bottom),
        Rect(part.x, cut.y, cut.x - part.x, cut.h),
        Rect(cut.right, cut.y, part.right - cut.right, cut.h),
    )
    return [strip for strip in strips if strip.w > 0 and strip.h > 0]
