"""What a wait looks at, and its words."""

from __future__ import annotations

from msgspec import Struct

from acud.types.displays import Rect


class Target(Struct, frozen=True, forbid_unknown_fields=True):
    """What a wait looks at, parsed: a display, and within it at most one of a window, region, terminal or monitor.

    `display` is a name such as `:100`, or "" for the default display (`screen`). `window` is a title part, or an X id
    in decimal or `0x` form. `region` is in display pixels. `ignore` boxes (clock, caret) are in the target's own
    pixels, origin at the target's top left. `pty` names a terminal (`pts/3`) or a tmux session (`build`, or
    `tmux:<socket>/build`); the target is the window that shows it. `monitor` is a RANDR monitor's name or number.
    `opened_by`: the window that a launch opens, by the pid of its program (0: not launched yet).
    """

    display: str = ""
    window: str = ""
    region: Rect | None = None
    ignore: tuple[Rect, ...] = ()
    pty: str = ""
    monitor: str = ""
    opened_by: int | None = None

    @property
    def in_windows(self) -> bool:
        """Whether the lists of windows and monitors decide its place, so that it may move."""
        return bool(self.window or self.pty or self.monitor) or self.opened_by is not None


def target_text(target: Target, display: str) -> str:
    """Return a wait's target in plain words; `display`: where the wait looks ("": not known)."""
    place = display or target.display or "the default display"
    if target.window:
        return f'window "{target.window}" on {place}'
    if target.opened_by is not None:
        return f"the window that the launch opens on {place}"
    if target.region:
        box = target.region
        return f"{box.w}x{box.h}+{box.x}+{box.y} of {place}"
    if target.pty:
        return f"terminal {target.pty}" + (f" on {display or target.display}" if display or target.display else "")
    return f"monitor {target.monitor} of {place}" if target.monitor else place


def target_argument(target: Target, display: str) -> str:
    """Return a target as a caller writes it in a request."""
    if target.window:
        return f"window:{target.window}"
    if target.region:
        box = target.region
        return f"region:{box.x},{box.y},{box.w},{box.h}"
    if target.pty or target.monitor:
        return f"pty:{target.pty}" if target.pty else f"monitor:{target.monitor}"
    return f"display:{display or target.display}" if display or target.display else "screen"
