"""Displays that people watch live: the demand for frames, and the events for watchers, without the pixels.

Without a watch nothing runs here: no timer, no demand on a source, no event.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from acud.base.clock import Clock
from acud.base.ids import new_id
from acud.process.event_loop import EventLoop, Timer
from acud.protocol.capture import Notice
from acud.protocol.events import Event
from acud.protocol.requests.looks import LiveWatched
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.observers import Order
from acud.supervisor.publisher import Publisher
from acud.supervisor.redaction import Redaction
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState

_CONSUMER = "live"
_TICK_S = 0.5
_CHECK_S = 0.4
"""A quiet screen is grabbed this often, to notice when its capture stands still. A grab that finds nothing new takes
0.5 ms at 1280x720."""
_STALE_S = 2.2  # without a grab for this long the newest frame is stale; watchers get that at the next tick, within 3 s


class _Watch(NamedTuple):
    display: str
    fps: float
    until_s: float


class _ShownFrame:
    """A watched display: since when, and whether its frame was reported as stale."""

    def __init__(self, since_s: float) -> None:
        self.since_s = since_s
        self.stale = False


class LiveWatches:
    """Every watch. `publish` gets each event."""

    def __init__(
        self, sources: Sources, redaction: Redaction, loop: EventLoop, clock: Clock, publisher: Publisher
    ) -> None:
        self._sources, self._redaction = sources, redaction
        self._loop = loop
        self._now = loop.now_s
        self._clock, self._publisher = clock, publisher
        self._watches: dict[str, _Watch] = {}
        self._shown: dict[str, _ShownFrame] = {}
        self._timer: Timer | None = None
        sources.watchers.add(self, Order.CORE)

    # ---- requests ----------------------------------------------------------------------------------------------------

    def watch(self, watched: WatchedDisplay, fps: float, for_s: float, watch: str = "") -> str:
        """Have `watched` grabbed up to `fps` times a second for `for_s` from now on (0: end); return the watch's id. A
        watch that ran out is begun again.
        """
        key = watch or new_id("live")
        if for_s > 0:
            self._watches[key] = _Watch(watched.name, fps, self._now() + for_s)
        else:
            self._watches.pop(key, None)
        was_shown = watched.name in self._shown
        self._apply_demand()
        source = self._sources.by_name.get(watched.name)
        if not was_shown and watched.name in self._shown and source is not None and source.up:
            self._check_freshness(source, self._shown[watched.name])  # its first picture needs no tick
        if self._shown and self._timer is None:
            self._timer = self._loop.call_later(0.0, self._on_timer)
        return key

    def locate_frames(self, watched: WatchedDisplay, watch: str, task_id: str) -> LiveWatched:
        """Return where the frames of `watched`, the display of `task_id`, are, or why there are none."""
        source = self._sources.by_name.get(watched.name)
        if source is None or not source.live or source.path is None:
            ended = watched.state is DisplayState.ENDED
            lost = source.lost_reason if source is not None else ""
            reason = watched.reason or lost or "no frame was grabbed yet"
            return LiveWatched(watch, watched.name, task_id, code="ended" if ended else "no_pixels", reason=reason)
        shown = self._shown.get(watched.name)
        if shown is not None and shown.stale:
            return LiveWatched(watch, watched.name, task_id, code="stale", reason=self._describe_standstill(source))
        hide = self._redaction.find_hidden(source)
        return LiveWatched(
            watch,
            watched.name,
            task_id,
            str(source.path),
            source.epoch,
            source.width,
            source.height,
            source.frame,
            source.compared_mono_ns,
            hide.boxes if hide is not None else (),
            hide.fault if hide is not None else "",
        )

    # ---- demand ------------------------------------------------------------------------------------------------------

    def _apply_demand(self) -> None:
        wanted = self._sum_demand()
        for name in {*self._shown, *wanted}:
            source = self._sources.by_name.get(name)
            if source is not None:
                self._sources.want(source, _CONSUMER, wanted.get(name, 0.0))
        self._shown = {name: self._shown.get(name) or _ShownFrame(self._now()) for name in wanted}

    def _sum_demand(self) -> dict[str, float]:
        wanted: dict[str, float] = {}
        for watch in self._watches.values():
            wanted[watch.display] = max(wanted.get(watch.display, 0.0), watch.fps)
        return wanted

    def _on_timer(self) -> None:
        self._timer = None
        now_s = self._now()
        self._watches = {key: watch for key, watch in self._watches.items() if watch.until_s > now_s}
        self._apply_demand()
        for name, shown in self._shown.items():
            source = self._sources.by_name.get(name)
            if source is not None and source.up:
                self._check_freshness(source, shown)
        if self._shown:
            self._timer = self._loop.call_at(now_s + _TICK_S, self._on_timer)

    def _check_freshness(self, source: Source, shown: _ShownFrame) -> None:
        compared_s = source.compared_mono_ns / 1e9
        if self._now() - compared_s >= _CHECK_S:
            self._sources.grab_now(source)
        # Before the watch nothing was grabbed: the frame's age counts from its begin.
        if self._now() - max(compared_s, shown.since_s) >= _STALE_S and not shown.stale:
            shown.stale = True
            self._publish_change("live.lost", source.name, code="stale", reason=self._describe_standstill(source))

    def _describe_standstill(self, source: Source) -> str:
        return f"nothing was grabbed of {source.name} for {self._sources.age_s(source) or 0.0:.1f} s"

    # ---- events of sources -------------------------------------------------------------------------------------------

    def source_up(self, source: Source) -> None:
        """Request frames of a watched display's new ring; its first frame is published."""
        if source.name in self._shown:
            self._apply_demand()

    def frame_seen(self, source: Source, notice: Notice) -> None:
        """Publish a frame, or that the newest one still matches the screen."""
        shown = self._shown.get(source.name)
        if shown is None:
            return
        shown.stale = False
        hide = self._redaction.find_hidden(source)
        hidden = [[box.x, box.y, box.w, box.h] for box in (one.box for one in hide.boxes)] if hide is not None else []
        self._publish_change(
            "live.frame",
            source.name,
            epoch=source.epoch,
            frame=source.frame,
            checked_mono_ns=source.compared_mono_ns,
            hidden=hidden,
            fault=hide.fault if hide is not None else "",
        )

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        """Publish that the display has no pixels, and why."""
        if source.name in self._shown:
            self._publish_change("live.lost", source.name, code=code, reason=reason)

    def _publish_change(self, topic: str, subject: str, **data: Any) -> None:
        # Never stored: the next one, a second later at most, says the same.
        self._publisher.publish(Event(0, 0, topic, self._clock.instant().utc_s, subject, data))
