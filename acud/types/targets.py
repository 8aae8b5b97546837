"""What a wait looks at."""

from __future__ import annotations

from msgspec import Struct

from acud.types.values import Rect


class Target(Struct, frozen=True, forbid_unknown_fields=True):
    """What a wait looks at, parsed: a display, and within it at most one of a window, region, terminal or monitor.

    `display` is a name such as `:100`, or "" for the default display (`screen`). `window` is a title part, or an X id
    in decimal or `0x` form. `region` is in display pixels. `ignore` boxes (clock, caret) are in the target's own
    pixels, origin at the target's top left. `pty` names a terminal (`pts/3`) or a tmux session (`build`, or
    `tmux:<socket>/build`); the target is the window that shows it. `monitor` is a RANDR monitor's name or number.
    """

    display: str = ""
    window: str = ""
    region: Rect | None = None
    ignore: tuple[Rect, ...] = ()
    pty: str = ""
    monitor: str = ""

    @property
    def in_windows(self) -> bool:
        """Whether its place follows from the list of windows and monitors, and so may move."""
        return bool(self.window or self.pty or self.monitor)
