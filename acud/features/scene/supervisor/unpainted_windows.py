"""Windows that are on the screen before their programs have painted them: they show the pixels beneath."""

from __future__ import annotations

from acud.base.clock import Clock
from acud.protocol.scene_parts import TextPart
from acud.supervisor.frame_sources import Sources
from acud.supervisor.observers import Order
from acud.supervisor.waits.target_tracker import TargetTracker
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import WindowInfo
from acud.waits.tiles import Grid

_YET_S = 15.0
"""A window that changes no pixel for longer is transparent."""


class UnpaintedWindows:
    """Knows the frame before each new window: capture sends the list of windows before a frame that shows them. A
    window is painted once a pixel in it has changed since then.
    """

    def __init__(
        self, watched_displays: WatchedDisplays, sources: Sources, targets: TargetTracker, clock: Clock
    ) -> None:
        self._clock = clock
        self._sources = sources
        self._targets = targets
        self._new: dict[int, dict[int, tuple[str, float]]] = {}
        """By display number and window: the token of the newest frame before it, and when it came."""
        self._listed: dict[int, frozenset[int]] = {}
        """By display number: the windows of its newest list."""
        watched_displays.watchers.add(self, Order.FEATURES)
        watched_displays.removed.add(self._forget_display, Order.FEATURES)

    def windows_seen(self, watched: WatchedDisplay) -> None:
        source = self._sources.by_name.get(watched.name)
        listed = frozenset(one.window_id for one in watched.windows if one.visibility != "unmapped")
        came = listed - self._listed.get(watched.number, listed)
        new = {one: since for one, since in self._new.get(watched.number, {}).items() if one in listed}
        if came and source is not None and source.up:
            new |= dict.fromkeys(came, (self._targets.make_token(source, source.frame), self._clock.monotonic_s()))
        self._new[watched.number], self._listed[watched.number] = new, listed

    def _forget_display(self, watched: WatchedDisplay) -> None:
        self._new.pop(watched.number, None)
        self._listed.pop(watched.number, None)

    def find(self, watched: WatchedDisplay) -> frozenset[int]:
        """Return the windows that are not painted in the newest frame."""
        source, new = self._sources.by_name.get(watched.name), self._new.get(watched.number, {})
        if source is None or not new:
            return frozenset()
        grid = Grid(source.width, source.height)
        for window in [one for one in watched.windows if one.window_id in new]:
            baseline, came_s = new[window.window_id]
            changed = self._targets.changed_since(source, baseline)
            is_late = self._clock.monotonic_s() - came_s > _YET_S
            if is_late or changed is None or changed & grid.find_touching(window.bounds):
                del new[window.window_id]
        return frozenset(new)


def is_beneath(text: TextPart, windows: tuple[WindowInfo, ...], unpainted: frozenset[int]) -> bool:
    """Return whether an unpainted window is topmost over another one at the text. With none beneath, the window has
    painted those pixels: it replaced a similar window.
    """
    x, y = text.bbox.x + text.bbox.w // 2, text.bbox.y + text.bbox.h // 2
    there = [one.window_id for one in windows if one.visibility != "unmapped" and one.outside.holds(x, y)]
    return len(there) > 1 and there[0] in unpainted
