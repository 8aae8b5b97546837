"""Senses from scenes that a client asked for: new text, or a picture that became another one.

No scene is made for it: while nobody asks for scenes or subscribes to them, nothing is read.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from acud.clock import Clock
from acud.event_loop import EventLoop
from acud.features.commentary.prompt import VISUAL_SSIM, NewText
from acud.features.commentary.supervisor.window_events import OWN, Title, meta_of
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types.commentary import SenseEvent
from acud.types.scene import Scene

PAUSE_S = 5.0
"""Between two events of one display; what changes meanwhile is told together after it."""


class DisplayText(Struct, frozen=True):
    """What a scene says of one display: its lines by id, and the least likeness to the picture before."""

    lines: tuple[tuple[str, str], ...]
    ssim: float | None


class _Display:
    """One display's text, what is still to be told of it, and when it may be."""

    def __init__(self) -> None:
        self.reading = NewText()
        self.due: DisplayText | None = None
        self.told_s = float("-inf")


class SceneEvents:
    """Makes events of scenes while `wanted`; `tell` gets each, unnumbered."""

    def __init__(
        self,
        numbered: Callable[[int], WatchedDisplay | None],
        loop: EventLoop,
        clock: Clock,
        wanted: Callable[[], bool],
        title: Title,
        tell: Callable[[SenseEvent], None],
    ) -> None:
        self._numbered = numbered
        self._loop = loop
        self._clock = clock
        self._wanted = wanted
        self._title = title
        self._tell = tell
        self._displays: dict[int, _Display] = {}

    def shown(self, scene: Scene) -> None:
        """Take in a scene. A display whose text could not be read is passed over: nothing of it is known to be gone."""
        if not self._wanted():
            return
        ready = {one.display_id for one in scene.providers if one.ocr.state == "ready"}
        for display in scene.displays:
            if display.id in ready and display.state == "up":
                lines = tuple((line.id, line.text) for line in scene.ocr if line.display_id == display.id)
                ssim = display.change.ssim if display.change is not None else None
                self._take(display.id, DisplayText(lines, ssim))

    def forget(self, watched: WatchedDisplay) -> None:
        """Drop what was read on a display that is not watched any more."""
        self._displays.pop(watched.number, None)

    def _take(self, number: int, shown: DisplayText) -> None:
        display = self._displays.setdefault(number, _Display())
        waiting = display.due
        display.due = DisplayText(shown.lines, _least(waiting.ssim if waiting is not None else None, shown.ssim))
        wait_s = display.told_s + PAUSE_S - self._clock.monotonic_s()
        if wait_s <= 0:
            self._flush(number)
        elif waiting is None:
            self._loop.call_later(wait_s, lambda: self._flush(number))

    def _flush(self, number: int) -> None:
        display, watched = self._displays.get(number), self._numbered(number)
        if display is None or watched is None:
            return
        due, display.due = display.due, None
        if due is not None and self._wanted():
            self._tell_of(display, watched, due)

    def _tell_of(self, display: _Display, watched: WatchedDisplay, shown: DisplayText) -> None:
        text = display.reading.fresh(shown.lines)
        if not text and (shown.ssim is None or shown.ssim >= VISUAL_SSIM):
            return
        display.told_s = self._clock.monotonic_s()
        now_ms = int(self._clock.instant().utc_s * 1000)
        meta = meta_of(watched, self._title, shown.ssim)
        self._tell(SenseEvent(0, "text" if text else "visual", now_ms, 0, text, meta, source=OWN))


def _least(one: float | None, other: float | None) -> float | None:
    known = [ssim for ssim in (one, other) if ssim is not None]
    return min(known, default=None)
