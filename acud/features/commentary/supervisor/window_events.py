"""Senses of acud's own displays: which window is in front, from the lists that capture tells anyway.

It demands no frame and reads no text: what nobody looks at costs nothing. A display tells at most one event every
`PAUSE_S`, and always its newest state: what changed meanwhile is looked at when the pause is over.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from acud.clock import Clock
from acud.event_loop import EventLoop
from acud.features.commentary.prompt import alike
from acud.supervisor.observers import Order
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import WindowInfo
from acud.types.commentary import SenseEvent, SenseMeta

PAUSE_S = 2.0
_TITLE = 200

Title = Callable[[WatchedDisplay, WindowInfo], str]
"""Returns a window's title without what redaction takes out of it."""
OWN = "acud"
"""The source of what acud sensed itself."""


class _Front(Struct, frozen=True):
    """What was told of a display last, and when (monotonic seconds)."""

    window: WindowInfo
    told_s: float


class WindowEvents:
    """Watches window lists while `wanted`; `tell` gets each event, unnumbered; `title` what may be told of a title."""

    def __init__(
        self,
        watched_displays: WatchedDisplays,
        loop: EventLoop,
        clock: Clock,
        wanted: Callable[[], bool],
        title: Title,
        tell: Callable[[SenseEvent], None],
    ) -> None:
        self._watched_displays = watched_displays
        self._loop = loop
        self._clock = clock
        self._wanted = wanted
        self._title = title
        self._tell = tell
        self._fronts: dict[int, _Front] = {}
        self._waiting: set[int] = set()
        watched_displays.watchers.add(self, Order.FEATURES)
        watched_displays.removed.add(self._forget, Order.FEATURES)

    def look(self) -> None:
        """Tell what is in front on each display now: somebody begins to listen."""
        self._fronts.clear()
        for watched in list(self._watched_displays.by_name.values()):
            self.windows_seen(watched)

    def windows_seen(self, watched: WatchedDisplay) -> None:
        """The window list of `watched` changed."""
        if watched.number in self._waiting or not self._wanted():
            return
        front, told = _in_front(watched), self._fronts.get(watched.number)
        if front is None or (told is not None and _same(told.window, front)):
            return
        now_s = self._clock.monotonic_s()
        if told is not None and now_s - told.told_s < PAUSE_S:
            self._waiting.add(watched.number)
            self._loop.call_at(told.told_s + PAUSE_S, lambda: self._pause_over(watched))
            return
        self._fronts[watched.number] = _Front(front, now_s)
        now_ms = int(self._clock.instant().utc_s * 1000)
        self._tell(SenseEvent(0, "context", now_ms, 0, "", meta_of(watched, self._title), source=OWN))

    def _pause_over(self, watched: WatchedDisplay) -> None:
        self._waiting.discard(watched.number)
        if self._watched_displays.by_name.get(watched.name) is watched:
            self.windows_seen(watched)

    def _forget(self, watched: WatchedDisplay) -> None:
        self._fronts.pop(watched.number, None)


def _in_front(watched: WatchedDisplay) -> WindowInfo | None:
    return next((window for window in watched.windows if window.window_id == watched.focused), None)


def _same(told: WindowInfo, front: WindowInfo) -> bool:
    """Tell whether it is the same window under much the same title: a counter or a spinner is no other context."""
    return told.window_id == front.window_id and alike(told.title[:_TITLE], front.title[:_TITLE])


def meta_of(watched: WatchedDisplay, title: Title, ssim: float | None = None) -> SenseMeta:
    """Return where an event of `watched` comes from."""
    front = _in_front(watched)
    if front is None:
        return SenseMeta(ssim, screen=watched.number)
    shown = title(watched, front)
    return SenseMeta(ssim, front.wm_class or shown, shown, watched.number)
