"""Where the effect of an action can be seen, and how windows changed: pure rules over lists of windows.

A click can change the window that it reaches, windows of the same program, and the list of windows. The windows of
other programs are left out: what they paint is no effect of it.
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
"""A window manager's frame, redrawn when the focus moves, if the list of windows lacks it."""


class EffectArea(Struct, frozen=True):
    """Where an effect shows. `box`: around it, in display pixels; `ignore`: the parts of others, relative to `box`.

    `family`: windows of which opening, closing and titles are effects; empty if no window was reached.
    """

    box: Rect
    ignore: tuple[Rect, ...] = ()
    family: frozenset[int] = frozenset()


def effect_area(screen: Rect, windows: Sequence[WindowInfo], points: Sequence[Point], focused: int) -> EffectArea:
    """Return where an action at `points` can show, or (no points) a keyboard action in the window `focused`.

    `windows`: topmost first. For the bare root it is the area outside of windows and frames. Without a focused window
    it is the whole screen: any program may get the keys.
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
        others = _find_parts(screen, [_find_frame(one) for one in shown], inside=True)
        # A click on the frame around a window can close it.
        near = [one for one in shown if any(_find_frame(one).holds(point.x, point.y) for point in points)][:1]
        return EffectArea(screen, tuple(others), family_of(near[0], windows) if near else frozenset())
    free: list[Rect] = []
    above: list[Rect] = []
    for one in shown:
        if one.window_id in family and not _gives_way(one, points):
            free += _find_parts(one.bounds, above, inside=False)
        above.append(one.outside)
    free = [part for box in free if (part := box.intersect(screen)) is not None]
    if not free:
        return EffectArea(screen, family=family)
    box = _enclose_boxes(free)
    ignore = _find_parts(box, free, inside=False)
    return EffectArea(box, tuple(part.shift(-box.x, -box.y) for part in ignore), family)


def target_area(screen: Rect, windows: Sequence[WindowInfo], target: WindowInfo) -> EffectArea:
    """Return where an effect in the one window `target` can show: its box, without the parts that others cover."""
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
    ignore = tuple(part.shift(-box.x, -box.y) for part in _find_parts(box, above, inside=True))
    return EffectArea(box, ignore, family)


def without(area: EffectArea, *boxes: Rect) -> EffectArea:
    """Return `area` without `boxes` as well, which are in display pixels."""
    more = tuple(part.shift(-area.box.x, -area.box.y) for box in boxes if (part := box.intersect(area.box)))
    return EffectArea(area.box, (*area.ignore, *more), area.family)


def on_tiles(area: EffectArea, screen: Rect) -> EffectArea:
    """Return `area` in whole tiles: changes are known by tile, and a tile of several windows shows those of each. An
    area too small for that is returned unchanged.
    """
    x, y = -(-area.box.x // TILE_PX) * TILE_PX, -(-area.box.y // TILE_PX) * TILE_PX
    right = area.box.right if area.box.right >= screen.right else area.box.right // TILE_PX * TILE_PX
    bottom = area.box.bottom if area.box.bottom >= screen.bottom else area.box.bottom // TILE_PX * TILE_PX
    box = Rect(x, y, right - x, bottom - y)
    if min(box.w, box.h) < 2 * TILE_PX:
        return area
    outer = (_grow_to_tiles(one.shift(area.box.x, area.box.y)).intersect(box) for one in area.ignore)
    return EffectArea(box, tuple(one.shift(-box.x, -box.y) for one in outer if one is not None), area.family)


def _grow_to_tiles(box: Rect) -> Rect:
    x, y = box.x // TILE_PX * TILE_PX, box.y // TILE_PX * TILE_PX
    return Rect(x, y, -(-box.right // TILE_PX) * TILE_PX - x, -(-box.bottom // TILE_PX) * TILE_PX - y)


def window_changes(before: Sequence[WindowInfo], now: Sequence[WindowInfo]) -> tuple[WindowChange, ...]:
    """Return the changes of windows: those opened first, then closed, then retitled. Popups without a title count."""
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
    """Return the present focus (the X window `focused`, the widget `role` `name`); `before`: the earlier X window."""
    title = next((one.title for one in windows if one.window_id == focused), "")
    return FocusNow(title, focused, role, name, moved=focused != before)


def is_effect(
    change: WindowChange,
    area: EffectArea,
    before: Sequence[WindowInfo],
    now: Sequence[WindowInfo],
    points: Sequence[Point] = (),
) -> bool:
    """Return whether a change of windows, from `before` to `now`, shows that an action had an effect.

    Any new window but a popup is one: a program that was started has another process. A new popup must be of the
    reached program, or where the bare root was clicked; a closed or renamed window must be of that program. A popup
    that closes because something else was clicked (a tip) is none.
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
    return any(_find_frame(window).holds(point.x, point.y) for point in points)


def visible_middle(window: WindowInfo, windows: Sequence[WindowInfo], screen: Rect) -> Point | None:
    """Return the middle of the largest visible part of `window` on a `screen`; None if none is visible."""
    part = max(shown_parts(window, windows, screen), key=lambda one: one.area, default=None)
    return Point(part.x + part.w // 2, part.y + part.h // 2) if part is not None else None


def shown_parts(window: WindowInfo, windows: Sequence[WindowInfo], box: Rect) -> list[Rect]:
    """Return the visible parts of `window` inside of `box`; they do not overlap."""
    shown = window.bounds.intersect(box)
    return _find_parts(shown, boxes_above(window, windows), inside=False) if shown is not None else []


def boxes_above(window: WindowInfo, windows: Sequence[WindowInfo]) -> list[Rect]:
    above = takewhile(lambda one: one.window_id != window.window_id, windows)
    return [one.outside for one in above if one.visibility != "unmapped"]


def _gives_way(window: WindowInfo, points: Sequence[Point]) -> bool:
    """Return whether a window is a popup that an action at `points` does not reach: it closes in any case."""
    return (
        window.kind == "popup" and bool(points) and not any(window.bounds.holds(point.x, point.y) for point in points)
    )


def _find_frame(window: WindowInfo) -> Rect:
    if window.frame is not None:
        return window.frame
    box = window.bounds
    return Rect(box.x - _FRAME_PX, box.y - _TITLE_PX, box.w + 2 * _FRAME_PX, box.h + _TITLE_PX + _FRAME_PX)


def _enclose_boxes(boxes: Iterable[Rect]) -> Rect:
    found = list(boxes)
    x, y = min(one.x for one in found), min(one.y for one in found)
    return Rect(x, y, max(one.right for one in found) - x, max(one.bottom for one in found) - y)


def _find_parts(box: Rect, others: Sequence[Rect], *, inside: bool) -> list[Rect]:
    """Return the parts of `box` that `others` cover (`inside`), or that none of them covers."""
    if inside:
        return [part for other in others if (part := other.intersect(box)) is not None]
    left = [box]
    for other in others:
        left = [rest for part in left for rest in _subtract_box(part, other)]
    return left


def _subtract_box(part: Rect, hole: Rect) -> list[Rect]:
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
