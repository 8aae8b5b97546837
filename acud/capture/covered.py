"""Covered windows that somebody waits on: each is a source of its own, as long as it stays covered and mapped."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from acud.capture.pace import Pace
from acud.capture.source import Source
from acud.errors import Refused
from acud.log import logger
from acud.protocol.children import SourceGone
from acud.types import WindowInfo
from acud.x11.composite import OffScreen
from acud.x11.connection import Connection
from acud.x11.grab import GrabPath, PixelsGone


class _Covered(Struct):
    """A covered window's off-screen pixels and its source; `stale`: the pixmap may be another one now."""

    off_screen: OffScreen
    source: Source
    stale: bool = False

    def close(self) -> None:
        self.source.close()
        self.off_screen.close()


class Covered:
    """The sources of covered windows on one display; owns them. Closing twice is harmless.

    `path` and `pace` make what each source needs. `hello` and `gone` tell the supervisor.
    """

    def __init__(
        self,
        connection: Connection,
        path: Callable[[], GrabPath],
        pace: Callable[[], Pace],
        hello: Callable[[Source, int], None],
        gone: Callable[[SourceGone], None],
    ) -> None:
        self._connection = connection
        self._path, self._pace, self._hello, self._gone = path, pace, hello, gone
        self._followed: frozenset[int] = frozenset()
        self._windows: dict[int, _Covered] = {}
        self._refused: set[int] = set()

    def sources(self) -> Iterator[Source]:
        """Yield the sources."""
        return (held.source for held in self._windows.values())

    def follow(self, windows: tuple[int, ...]) -> None:
        """Set the windows that somebody waits on; `update` acts on it."""
        self._followed = frozenset(windows)
        self._refused &= self._followed

    def touched(self, window: int) -> None:
        """Note that `window` was mapped or configured: its pixmap is to be named anew before the next grab."""
        held = self._windows.get(window)
        if held is not None:
            held.stale = True

    def update(self, windows: tuple[WindowInfo, ...]) -> None:
        """Begin and end sources so that they are the followed windows that are covered now."""
        states = {info.window_id: str(info.visibility) for info in windows}
        for window in [w for w in self._windows if w not in self._followed or states.get(w) != "covered"]:
            self._end(window, _reason(window in self._followed, states.get(window)))
        for window in sorted(self._followed - self._windows.keys() - self._refused):
            if states.get(window) == "covered":
                self._begin(window)

    def lost(self, source: Source) -> None:
        """End `source`, which gave no pixels: its window just changed, and the event that tells how is on its way."""
        for window in [w for w, held in self._windows.items() if held.source is source]:
            self._end(window, "the window changed while it was grabbed")

    def renew(self) -> None:
        """Name anew the pixmaps that may have changed; another size asks for another ring."""
        for window, held in list(self._windows.items()):
            if held.stale:
                held.stale = False
                self._renew(window, held)

    def _renew(self, window: int, held: _Covered) -> None:
        before = held.source.area
        try:
            held.source.move(held.off_screen.renew())
        except PixelsGone as fault:
            self._end(window, fault.message)
            return
        if (before.width, before.height) != (held.source.area.width, held.source.area.height):
            self._hello(held.source, window)

    def _begin(self, window: int) -> None:
        try:
            off_screen = OffScreen(self._connection, window)
        except PixelsGone:
            return  # it went away since the snapshot; the next one says so
        except Refused as fault:
            self._refused.add(window)
            logger("capture").warning("window.refused", window=window, fault=fault.message)
            return
        name = f"{self._connection.name}.w{window}"
        source = Source(name, off_screen.area, off_screen.damage, self._path(), self._pace())
        self._windows[window] = _Covered(off_screen, source)
        self._hello(source, window)

    def _end(self, window: int, reason: str) -> None:
        held = self._windows.pop(window)
        held.close()
        self._gone(SourceGone(held.source.name, reason))

    def close(self) -> None:
        """End every source without telling."""
        for held in self._windows.values():
            held.close()
        self._windows.clear()


def _reason(is_followed: bool, state: str | None) -> str:
    if not is_followed:
        return "nobody waits on it"
    return {
        None: "the window closed",
        "full": "the window is wholly visible",
        "unmapped": "the window is unmapped",
    }.get(state, "the window is not covered")
