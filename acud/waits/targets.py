"""Where a target's pixels are now: a crop of the display, or a covered window's own source."""

from __future__ import annotations

import re

from msgspec import Struct

from acud.base.errors import InvalidRequest, suggest
from acud.types import MAX_SIDE_PX, MonitorInfo, Rect, Target, Verdict, WindowInfo, display_name, screen_cover, unknown
from acud.waits.condition_tree import NOT_LOCATED
from acud.waits.read_text import comparable
from acud.waits.terminals import parse_session_name

TARGETS = "use screen, display:<name>, window:<title or id>, region:x,y,w,h, pty:<session> or monitor:<name or number>"


class TargetLocation(Struct, frozen=True):
    """A view of `source`, or `missing`: why there is none. `window_id`: the target's window (0: none).

    `crop` None is the whole source. `ignore` boxes are relative to the crop and clipped to it.
    """

    source: str = ""
    crop: Rect | None = None
    ignore: tuple[Rect, ...] = ()
    window_id: int = 0
    missing: Verdict | None = None


def locate(
    target: Target,
    display: str,
    width: int,
    height: int,
    windows: tuple[WindowInfo, ...],
    window_id: int = 0,
    monitors: tuple[MonitorInfo, ...] = (),
    shown_in: Verdict | int | None = None,
) -> TargetLocation:
    """Return where to look on `display` (`width` x `height`) with these `windows`, topmost first.

    A window is found by id or by a part of its title, case ignored, topmost viewable one first. `window_id`: the former
    window, which is followed while it can be seen, whatever its title becomes and whatever is above it. `shown_in`: the
    window that shows a `pty` target, or that a launch opened; or why there is none.
    """
    screen = Rect(0, 0, width, height)
    if target.pty or target.opened_by is not None:
        return _locate_known_window(target, display, screen, windows, shown_in)
    if target.window:
        window = find_named_window(target.window, windows, window_id)
        return _locate_window(target, display, screen, window)
    if target.monitor:
        return _locate_monitor(target, display, screen, monitors)
    if target.region is None:
        return TargetLocation(display, None, _clip_boxes(target.ignore, screen))
    return _locate_box(display, screen, target.region, target.ignore, 0)


def find_named_window(wanted: str, windows: tuple[WindowInfo, ...], window_id: int = 0) -> WindowInfo | None:
    """Return the window that `wanted` names by id or a part of its title, as in `locate`; None if there is none."""
    number = parse_window_id(wanted)
    by_id = [w for w in windows if number is not None and w.window_id == number]
    by_title = find_titled_windows(wanted, windows)
    before = [w for w in windows if w.window_id == window_id]
    candidates = by_id or [*before, *by_title]
    viewable = [w for w in candidates if w.visibility != "unmapped"]
    return next(iter(viewable or candidates), None)


def find_titled_windows(wanted: str, windows: tuple[WindowInfo, ...]) -> list[WindowInfo]:
    """Return the client windows with `wanted` in their title, topmost first."""
    return [w for w in windows if w.kind != "popup" and comparable(wanted) in comparable(w.title)]


def parse_window_id(text: str) -> int | None:
    """Return the X id that `text` spells (decimal, or `0x` and hexadecimal), or None when it is a title."""
    digits, base = (text[2:], 16) if text[:2].lower() == "0x" else (text, 10)
    allowed = "0123456789abcdef"[:base]
    plain = bool(digits) and all(c in allowed for c in digits.lower())
    return int(digits, base) if plain else None


def _locate_window(target: Target, display: str, screen: Rect, window: WindowInfo | None) -> TargetLocation:
    if window is None:
        return TargetLocation(
            missing=unknown("window_missing", f"no window matches {target.window or target.pty!r} now")
        )
    if window.visibility == "unmapped":
        detail = f"the window {window.title!r} is minimised or hidden, so it has no pixels"
        return TargetLocation(window_id=window.window_id, missing=unknown("not_viewable", detail))
    if window.visibility == "covered":
        whole = Rect(0, 0, window.bounds.w, window.bounds.h)
        source = f"{display}.w{window.window_id}"
        return TargetLocation(source, None, _clip_boxes(target.ignore, whole), window.window_id)
    return _locate_box(display, screen, window.bounds, target.ignore, window.window_id)


def _locate_known_window(
    target: Target, display: str, screen: Rect, windows: tuple[WindowInfo, ...], window: Verdict | int | None
) -> TargetLocation:
    if not isinstance(window, int):
        return TargetLocation(missing=window or NOT_LOCATED)
    return _locate_window(target, display, screen, next((w for w in windows if w.window_id == window), None))


def _locate_monitor(target: Target, display: str, screen: Rect, monitors: tuple[MonitorInfo, ...]) -> TargetLocation:
    found = find_monitor(target.monitor, monitors)
    if found is None:
        there = ", ".join(one.name for one in monitors) or "none"
        detail = f"display {display} has no monitor {target.monitor!r} now; monitors there: {there}"
        return TargetLocation(missing=unknown("monitor_missing", detail))
    return _locate_box(display, screen, found.bounds, target.ignore, 0)


def find_monitor(wanted: str, monitors: tuple[MonitorInfo, ...]) -> MonitorInfo | None:
    """Return the monitor of this name, else of this number (counted from 0, as xrandr does)."""
    by_name = next((one for one in monitors if one.name.casefold() == wanted.casefold()), None)
    if by_name is not None or not (wanted.isascii() and wanted.isdecimal()):
        return by_name
    number = int(wanted)
    return monitors[number] if number < len(monitors) else None


def judge_hidden_screen(windows: tuple[WindowInfo, ...], box: Rect | None) -> Verdict | None:
    """Return the verdict if a lock screen or screen saver hides a part of a display (None: all of it), else None."""
    cover = screen_cover(windows, box)
    if cover is None:
        return None
    named = f'"{cover.title or cover.wm_class}" ' if cover.title or cover.wm_class else ""
    window = f"window:{cover.window_id:#x}"
    detail = f"the screen is locked or hidden by {named}({window}); to watch that itself, take {window} as the target"
    return unknown("locked", detail)


def _locate_box(display: str, screen: Rect, box: Rect, ignore: tuple[Rect, ...], window_id: int) -> TargetLocation:
    crop = box.intersect(screen)
    if crop is None:
        where = f"{box.x},{box.y},{box.w},{box.h}"
        detail = f"the target {where} lies outside the display ({screen.w}x{screen.h})"
        return TargetLocation(window_id=window_id, missing=unknown("not_viewable", detail))
    moved = tuple(spot.shift(box.x - crop.x, box.y - crop.y) for spot in ignore)
    return TargetLocation(display, crop, _clip_boxes(moved, Rect(0, 0, crop.w, crop.h)), window_id)


def _clip_boxes(boxes: tuple[Rect, ...], inside: Rect) -> tuple[Rect, ...]:
    parts = (box.intersect(inside) for box in boxes)
    return tuple(part for part in parts if part is not None)


def parse_target(text: str, display: str = "", ignore: tuple[Rect, ...] = ()) -> Target:
    """Return the target that `text` names on `display` ("": the default display), without the `ignore` boxes. Raises:
    InvalidRequest, with the next step, for an unknown kind of target.
    """
    kind, colon, rest = text.strip().partition(":")
    rest = rest.strip()
    where = display_name(display)
    _check_ignore(ignore)
    match kind.strip().lower():
        case "screen" if not colon:
            return Target(where, ignore=ignore)
        case "display" if rest:
            return Target(_check_one_display(display_name(rest), where), ignore=ignore)
        case "window" if rest:
            return Target(where, window=rest, ignore=ignore)
        case "region" if rest:
            return Target(where, region=_parse_region(rest), ignore=ignore)
        case "pty" if rest:
            return Target(where, pty=parse_session_name(rest).text, ignore=ignore)
        case "monitor" if rest:
            return Target(where, monitor=rest, ignore=ignore)
    near = suggest(kind.strip(), ("screen", "display", "window", "region", "pty", "monitor"))
    raise InvalidRequest(f"{text!r} is not a target", hint=near + TARGETS)


def _check_one_display(named: str, display: str) -> str:
    if display and display != named:
        raise InvalidRequest(
            f"the target names display {named}, and the request names {display}", hint="name one display"
        )
    return named


def _parse_region(text: str) -> Rect:
    numbers = re.fullmatch(r"(\d{1,5})\s*,\s*(\d{1,5})\s*,\s*(\d{1,5})\s*,\s*(\d{1,5})", text, re.ASCII)
    if numbers is None:
        raise InvalidRequest(
            f"{text!r} is not a region", hint="write region:x,y,w,h in whole pixels, for example region:0,0,640,480"
        )
    x, y, w, h = (int(n) for n in numbers.groups())
    _check_size(Rect(x, y, w, h), "region")
    return Rect(x, y, w, h)


def _check_size(box: Rect, name: str) -> None:
    if box.w < 1 or box.h < 1 or max(box.right, box.bottom) > MAX_SIDE_PX or min(box.x, box.y) < 0:
        raise InvalidRequest(
            f"the {name} {box.x},{box.y},{box.w},{box.h} is empty, negative or beyond {MAX_SIDE_PX} px",
            hint="x and y start at 0, w and h at 1",
        )


def _check_ignore(ignore: tuple[Rect, ...]) -> None:
    for box in ignore:
        _check_size(box, "ignored box")
