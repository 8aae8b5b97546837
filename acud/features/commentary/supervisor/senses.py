"""Senses of acud's own displays: the window in front, and the content of scenes that clients request.

Nothing is read for them: capture sends window lists anyway, and scenes are made only on request. A display sends at
most one event of each kind within a pause, and its newest state after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from acud.base.clock import Clock
from acud.features.commentary.prompt import VISUAL_SSIM, NewText, is_alike
from acud.process.event_loop import EventLoop
from acud.supervisor.observers import Order
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import WindowInfo
from acud.types.commentary import SenseEvent, SenseMeta
from acud.types.scene import Scene

WINDOW_PAUSE_S = 2.0
_TITLE = 200

Title = Callable[[WatchedDisplay, WindowInfo], str]
"""Returns a window's title, redacted."""
OWN = "acud"
"""The source of acud's own sense events."""


class SenseOutput(Struct, frozen=True):
    """The output of senses: `send` gets each event, unnumbered, while `wanted`; `title` redacts a title."""

    loop: EventLoop
    clock: Clock
    wanted: Callable[[], bool]
    title: Title
    send: Callable[[SenseEvent], None]

    def emit(
        self,
        kind: Literal["text", "visual", "context"],
        watched: WatchedDisplay,
        text: str = "",
        ssim: float | None = None,
    ) -> None:
        front = _find_front(watched)
        meta = SenseMeta(ssim, screen=watched.number)
        if front is not None:
            shown = self.title(watched, front)
            meta = SenseMeta(ssim, front.wm_class or shown, shown, watched.number)
        self.send(SenseEvent(0, kind, int(self.clock.instant().utc_s * 1000), 0, text, meta, source=OWN))


class _Front(Struct, frozen=True):
    """The last event of a display, and when it was sent (monotonic seconds)."""

    window: WindowInfo
    sent_s: float


class WindowEvents:
    """Watches window lists while senses are wanted."""

    def __init__(self, watched_displays: WatchedDisplays, out: SenseOutput) -> None:
        self._watched_displays = watched_displays
        self._out = out
        self._fronts: dict[int, _Front] = {}
        self._waiting: set[int] = set()
        watched_displays.watchers.add(self, Order.FEATURES)
        watched_displays.removed.add(self._forget_display, Order.FEATURES)

    def look(self) -> None:
        """Report the window in front on each display, for a client that begins to listen."""
        self._fronts.clear()
        for watched in list(self._watched_displays.by_name.values()):
            self.windows_seen(watched)

    def windows_seen(self, watched: WatchedDisplay) -> None:
        """Report the window in front, if it changed."""
        if watched.number in self._waiting or not self._out.wanted():
            return
        front, last = _find_front(watched), self._fronts.get(watched.number)
        if front is None or (last is not None and _is_same_front(last.window, front)):
            return
        now_s = self._out.clock.monotonic_s()
        if last is not None and now_s - last.sent_s < WINDOW_PAUSE_S:
            self._waiting.add(watched.number)
            self._out.loop.call_at(last.sent_s + WINDOW_PAUSE_S, lambda: self._pause_over(watched))
            return
        self._fronts[watched.number] = _Front(front, now_s)
        self._out.emit("context", watched)

    def _pause_over(self, watched: WatchedDisplay) -> None:
        self._waiting.discard(watched.number)
        if self._watched_displays.by_name.get(watched.name) is watched:
            self.windows_seen(watched)

    def _forget_display(self, watched: WatchedDisplay) -> None:
        self._fronts.pop(watched.number, None)


def _find_front(watched: WatchedDisplay) -> WindowInfo | None:
    return next((window for window in watched.windows if window.window_id == watched.focused), None)


def _is_same_front(last: WindowInfo, front: WindowInfo) -> bool:
    """Return whether it is the same window with much the same title: a counter or a spinner may change."""
    return last.window_id == front.window_id and is_alike(last.title[:_TITLE], front.title[:_TITLE])


SCENE_PAUSE_S = 5.0
"""Seconds between two events of one display; changes meanwhile are reported together afterwards."""


class DisplayText(Struct, frozen=True):
    """A scene's content of one display: its lines by id, and the least likeness to the picture before."""

    lines: tuple[tuple[str, str], ...]
    ssim: float | None


class _Display:
    """One display's text, the content still to report, and the time of the last report."""

    def __init__(self) -> None:
        self.reading = NewText()
        self.due: DisplayText | None = None
        self.sent_s = float("-inf")


class SceneEvents:
    """Makes events of scenes while senses are wanted."""

    def __init__(self, watched_displays: WatchedDisplays, out: SenseOutput) -> None:
        self._watched_displays = watched_displays
        self._out = out
        self._displays: dict[int, _Display] = {}

    def on_scene(self, scene: Scene) -> None:
        """Take a scene, without displays of unreadable text: their earlier text may still be there."""
        if not self._out.wanted():
            return
        ready = {one.display_id for one in scene.providers if one.ocr.state == "ready"}
        for display in scene.displays:
            if display.id in ready and display.state == "up":
                lines = tuple((line.id, line.text) for line in scene.ocr if line.display_id == display.id)
                ssim = display.change.ssim if display.change is not None else None
                self._take_text(display.id, DisplayText(lines, ssim))

    def forget(self, watched: WatchedDisplay) -> None:
        """Drop the text of a display that is not watched any more."""
        self._displays.pop(watched.number, None)

    def _take_text(self, number: int, text: DisplayText) -> None:
        display = self._displays.setdefault(number, _Display())
        waiting = display.due
        display.due = DisplayText(text.lines, _find_least(waiting.ssim if waiting is not None else None, text.ssim))
        wait_s = display.sent_s + SCENE_PAUSE_S - self._out.clock.monotonic_s()
        if wait_s <= 0:
            self._send_due(number)
        elif waiting is None:
            self._out.loop.call_later(wait_s, lambda: self._send_due(number))

    def _send_due(self, number: int) -> None:
        display, watched = self._displays.get(number), self._watched_displays.find_by_number(number)
        if display is None or watched is None:
            return
        due, display.due = display.due, None
        if due is not None and self._out.wanted():
            self._emit_due(display, watched, due)

    def _emit_due(self, display: _Display, watched: WatchedDisplay, display_text: DisplayText) -> None:
        text = display.reading.find_new(display_text.lines)
        if not text and (display_text.ssim is None or display_text.ssim >= VISUAL_SSIM):
            return
        display.sent_s = self._out.clock.monotonic_s()
        self._out.emit("text" if text else "visual", watched, text, display_text.ssim)


def _find_least(one: float | None, other: float | None) -> float | None:
    known = [ssim for ssim in (one, other) if ssim is not None]
    return min(known, default=None)
