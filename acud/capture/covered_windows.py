"""Covered windows that waits watch: each is a source of its own while it stays covered and mapped."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from acud.base.errors import Refused
from acud.base.log import logger
from acud.capture.frame_rate import GrabSchedule
from acud.capture.source import CaptureSource
from acud.protocol.capture import SourceGone
from acud.types import WindowInfo
from acud.x11.connection import Connection
from acud.x11.damage import OffScreen
from acud.x11.grab import GrabPath, PixelsGone

_REPAINT_MAX_S = 0.5
_REPAINT_QUIET_S = 0.05
"""When the server redirects a window, its covered part is background until its program has painted it again (on an
Expose event). So the hello waits until the window was painted and is quiet, or for the former time at most."""


class _CoveredWindow(Struct):
    """A covered window's off-screen pixels and its source.

    `stale`: the pixmap may have changed. `hello_s`: when the hello is due; None once it was sent.
    """

    off_screen: OffScreen
    source: CaptureSource
    hello_s: float | None
    stale: bool = False

    def close(self) -> None:
        self.source.close()
        self.off_screen.close()


class CoveredWindows:
    """The sources of covered windows on one display; owns them. Closing twice is harmless.

    `path` and `schedule` make the parts of a source. `hello` and `on_gone` report to the supervisor.
    """

    def __init__(
        self,
        connection: Connection,
        path: Callable[[], GrabPath],
        schedule: Callable[[], GrabSchedule],
        hello: Callable[[CaptureSource, int], None],
        on_gone: Callable[[SourceGone], None],
    ) -> None:
        self._connection = connection
        self._path, self._schedule, self._hello, self._gone = path, schedule, hello, on_gone
        self._followed: frozenset[int] = frozenset()
        self._windows: dict[int, _CoveredWindow] = {}
        self._refused: set[int] = set()

    def sources(self) -> Iterator[CaptureSource]:
        return (held.source for held in self._windows.values())

    def follow_windows(self, windows: tuple[int, ...]) -> None:
        """Set the windows that waits watch; the next `update_sources` begins or ends their captures."""
        self._followed = frozenset(windows)
        self._refused &= self._followed

    @property
    def is_wanted(self) -> bool:
        """Whether a wait watches a window, covered or not."""
        return bool(self._followed)

    def mark_stale(self, window: int) -> None:
        """Note that `window` was mapped or configured: the next grab must name its pixmap again."""
        held = self._windows.get(window)
        if held is not None:
            held.stale = True

    def on_painted(self, source: CaptureSource, now_s: float) -> None:
        """Note that `source` was painted; a hello that waits for the first paint is sent when that has ended."""
        for held in self._windows.values():
            if held.source is source and held.hello_s is not None:
                held.hello_s = min(held.hello_s, now_s + _REPAINT_QUIET_S)

    def due_s(self) -> float | None:
        """Return when `send_hellos` is due next; None when nothing waits."""
        return min((held.hello_s for held in self._windows.values() if held.hello_s is not None), default=None)

    def send_hellos(self, now_s: float) -> None:
        """Send the hello of each source whose hello is due."""
        for window, held in self._windows.items():
            if held.hello_s is not None and held.hello_s <= now_s:
                held.hello_s = None
                self._hello(held.source, window)

    def update_sources(self, windows: tuple[WindowInfo, ...], now_s: float) -> None:
        """Begin and end sources so that they match the followed windows that are covered now."""
        states = {info.window_id: str(info.visibility) for info in windows}
        for window in [w for w in self._windows if w not in self._followed or states.get(w) != "covered"]:
            self._end_capture(window, _explain_end(window in self._followed, states.get(window)))
        for window in sorted(self._followed - self._windows.keys() - self._refused):
            if states.get(window) == "covered":
                self._begin_capture(window, now_s)

    def on_lost(self, source: CaptureSource) -> None:
        """End `source`, which gave no pixels: its window just changed, and an event with the change is on its way."""
        for window in [w for w, held in self._windows.items() if held.source is source]:
            self._end_capture(window, "the window changed while it was grabbed")

    def renew_pixmaps(self) -> None:
        """Name the pixmaps again that may have changed; another size needs another ring."""
        for window, held in list(self._windows.items()):
            if held.stale:
                held.stale = False
                self._renew_pixels(window, held)

    def _renew_pixels(self, window: int, held: _CoveredWindow) -> None:
        before = held.source.area
        try:
            held.source.move(held.off_screen.renew_pixmap())
        except PixelsGone as fault:
            self._end_capture(window, fault.message)
            return
        resized = (before.width, before.height) != (held.source.area.width, held.source.area.height)
        if resized and held.hello_s is None:
            self._hello(held.source, window)

    def _begin_capture(self, window: int, now_s: float) -> None:
        try:
            off_screen = OffScreen(self._connection, window)
        except PixelsGone:
            return  # it went away since the snapshot; the next one shows that
        except Refused as fault:
            self._refused.add(window)
            logger("capture").warning("window.refused", window=window, fault=fault.message)
            return
        name = f"{self._connection.name}.w{window}"
        source = CaptureSource(name, off_screen.area, off_screen.damage, self._path(), self._schedule())
        self._windows[window] = _CoveredWindow(off_screen, source, now_s + _REPAINT_MAX_S)

    def _end_capture(self, window: int, reason: str) -> None:
        held = self._windows.pop(window)
        held.close()
        self._gone(SourceGone(held.source.name, reason))

    def close(self) -> None:
        """End every source without a report."""
        for held in self._windows.values():
            held.close()
        self._windows.clear()


def _explain_end(is_followed: bool, state: str | None) -> str:
    if not is_followed:
        return "nobody waits on it"
    return {
        None: "the window closed or was withdrawn",
        "full": "the window is wholly visible",
        "unmapped": "the window is unmapped",
    }.get(state, "the window is not covered")
