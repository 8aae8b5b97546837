"""Where a target's pixels are now: a crop of the display, or a covered window's own source."""

from __future__ import annotations

from msgspec import Struct

from acud.types import MonitorInfo, Rect, Target, Verdict, WindowInfo, unknown


class Aim(Struct, frozen=True):
    """A view of `source`, or `missing`: why there is none. `window_id`: the window aimed at (0: none).

    `crop` None is the whole source. `ignore` boxes are relative to the crop and clipped to it.
    """

    source: str = ""
    crop: Rect | None = None
    ignore: tuple[Rect, ...] = ()
    window_id: int = 0
    missing: Verdict | None = None


def aim(
    target: Target,
    display: str,
    width: int,
    height: int,
    windows: tuple[WindowInfo, ...],
    held: int = 0,
    monitors: tuple[MonitorInfo, ...] = (),
    terminal: Verdict | int | None = None,
) -> Aim:
    """Return where to look on `display` (`width` x `height`), whose windows are given topmost first.

    A window is found by id or by a part of its title, case ignored, topmost viewable one first. `held` is the window
    aimed at before: it is followed while it can be seen, whatever its title becomes and whoever is above it.
    `terminal`: for a `pty` target, the window that shows it, or why there is none (`acud.waits.terminals.place`).
    """
    screen = Rect(0, 0, width, height)
    if target.pty:
        return _of_terminal(target, display, screen, windows, terminal)
    if target.window:
        window = window_named(target.window, windows, held)
        return _of_window(target, display, screen, window)
    if target.monitor:
        return _of_monitor(target, display, screen, monitors)
    if target.region is None:
        return Aim(display, None, _clipped(target.ignore, screen))
    return _crop(display, screen, target.region, target.ignore, 0)


def window_named(wanted: str, windows: tuple[WindowInfo, ...], held: int = 0) -> WindowInfo | None:
    """Return the window that `wanted` names by id or a part of its title, as `aim` finds it; None when none does."""
    number = window_number(wanted)
    by_id = [w for w in windows if number is not None and w.window_id == number]
    by_title = windows_titled(wanted, windows)
    before = [w for w in windows if w.window_id == held]
    candidates = by_id or [*before, *by_title]
    viewable = [w for w in candidates if w.visibility != "unmapped"]
    return next(iter(viewable or candidates), None)


def windows_titled(wanted: str, windows: tuple[WindowInfo, ...]) -> list[WindowInfo]:
    """Return the client windows whose title has `wanted` in it, topmost first."""
    return [w for w in windows if w.kind != "popup" and wanted.casefold() in w.title.casefold()]


def window_number(text: str) -> int | None:
    """Return the X id that `text` spells (decimal, or `0x` and hexadecimal), or None when it is a title."""
    digits, base = (text[2:], 16) if text[:2].lower() == "0x" else (text, 10)
    allowed = "0123456789abcdef"[:base]
    plain = bool(digits) and all(c in allowed for c in digits.lower())
    return int(digits, base) if plain else None


def _of_window(target: Target, display: str, screen: Rect, window: WindowInfo | None) -> Aim:
    if window is None:
        return Aim(missing=unknown("window_missing", f"no window matches {target.window or target.pty!r} now"))
    if window.visibility == "unmapped":
        detail = f"the window {window.title!r} is minimised or hidden, so it has no pixels"
        return Aim(window_id=window.window_id, missing=unknown("not_viewable", detail))
    if window.visibility == "covered":
        whole = Rect(0, 0, window.bounds.w, window.bounds.h)
        source = f"{display}.w{window.window_id}"
        return Aim(source, None, _clipped(target.ignore, whole), window.window_id)
    return _crop(display, screen, window.bounds, target.ignore, window.window_id)


def _of_terminal(
    target: Target, display: str, screen: Rect, windows: tuple[WindowInfo, ...], terminal: Verdict | int | None
) -> Aim:
    if not isinstance(terminal, int):
        return Aim(missing=terminal or unknown("not_judged", f"{target.pty} has not been looked for yet"))
    return _of_window(target, display, screen, next((w for w in windows if w.window_id == terminal), None))


def _of_monitor(target: Target, display: str, screen: Rect, monitors: tuple[MonitorInfo, ...]) -> Aim:
    found = monitor(target.monitor, monitors)
    if found is None:
        there = ", ".join(one.name for one in monitors) or "none"
        detail = f"display {display} has no monitor {target.monitor!r} now; monitors there: {there}"
        return Aim(missing=unknown("monitor_missing", detail))
    return _crop(display, screen, found.bounds, target.ignore, 0)


def monitor(wanted: str, monitors: tuple[MonitorInfo, ...]) -> MonitorInfo | None:
    """Return the monitor of this name, else of this number (counted from 0, as xrandr does)."""
    by_name = next((one for one in monitors if one.name.casefold() == wanted.casefold()), None)
    if by_name is not None or not (wanted.isascii() and wanted.isdecimal()):
        return by_name
    number = int(wanted)
    return monitors[number] if number < len(monitors) else None


def _crop(display: str, screen: Rect, box: Rect, ignore: tuple[Rect, ...], window_id: int) -> Aim:
    crop = box.intersect(screen)
    if crop is None:
        where = f"{box.x},{box.y},{box.w},{box.h}"
        detail = f"the target {where} lies outside the display ({screen.w}x{screen.h})"
        return Aim(window_id=window_id, missing=unknown("not_viewable", detail))
    moved = tuple(spot.moved(box.x - crop.x, box.y - crop.y) for spot in ignore)
    return Aim(display, crop, _clipped(moved, Rect(0, 0, crop.w, crop.h)), window_id)


def _clipped(boxes: tuple[Rect, ...], inside: Rect) -> tuple[Rect, ...]:
    parts = (box.intersect(inside) for box in boxes)
    return tuple(part for part in parts if part is not None)
