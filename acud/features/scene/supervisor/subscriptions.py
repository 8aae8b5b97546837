"""Who wants to be told as displays change: looks driven by damage, no faster than the settings allow.

With nobody subscribed nothing runs here: no timer, no demand on a source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from acud.event_loop import EventLoop, Timer
from acud.features.scene.settings import SceneSettings
from acud.features.scene.supervisor.service import Scenes
from acud.ids import new_id
from acud.protocol.capture import Notice
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.observers import Order
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types.scene import SceneMode

_CONSUMER = "scene"


class _Subscription(NamedTuple):
    """`names`: displays, none for all."""

    names: frozenset[str]
    until_s: float

    def wants(self, name: str) -> bool:
        """Tell whether the display is one of its."""
        return not self.names or name in self.names


class _Pace:
    """When a display was last seen to change, and the look that is to come."""

    def __init__(self) -> None:
        self.changed_s = float("-inf")
        self.timer: Timer | None = None


class SceneSubscriptions:
    """Looks at displays as they change, while a client subscribes."""

    def __init__(
        self,
        scenes: Scenes,
        watched_displays: WatchedDisplays,
        sources: Sources,
        loop: EventLoop,
        settings: SceneSettings,
        now_s: Callable[[], float],
    ) -> None:
        self._scenes = scenes
        self._watched_displays = watched_displays
        self._sources = sources
        self._loop = loop
        self._settings = settings
        self._now = now_s
        self._live: dict[str, _Subscription] = {}
        self._paces: dict[str, _Pace] = {}
        sources.watchers.add(self, Order.FEATURES)
        watched_displays.watchers.add(self, Order.FEATURES)

    def subscribe(self, names: frozenset[str], for_s: float, subscription: str = "") -> str:
        """Look at the displays `names` (none: all) for `for_s` from now on; return the subscription's id.

        An id that is known goes on, or with `for_s` 0 ends; one that ran out is taken up again.
        """
        key = subscription or new_id("sub")
        if for_s <= 0:
            self._live.pop(key, None)
        else:
            self._live[key] = _Subscription(names, self._now() + for_s)
            self._loop.call_later(for_s, self._expire)
        self._apply()
        return key

    def _expire(self) -> None:
        self._live = {key: one for key, one in self._live.items() if one.until_s > self._now()}
        self._apply()

    def _wanted(self, name: str) -> bool:
        return any(one.wants(name) for one in self._live.values())

    def _apply(self) -> None:
        for watched in self._watched_displays.by_name.values():
            source = self._sources.by_name.get(watched.name)
            wanted = self._wanted(watched.name)
            if source is not None:
                self._sources.want(source, _CONSUMER, self._settings.active_hz if wanted else 0.0)
            if wanted and watched.name not in self._paces:
                self._paces[watched.name] = _Pace()
                self._due(watched, changed=True)
            elif not wanted:
                self._drop(watched.name)
        for name in set(self._paces) - set(self._watched_displays.by_name):
            self._drop(name)

    def _drop(self, name: str) -> None:
        pace = self._paces.pop(name, None)
        if pace is not None and pace.timer is not None:
            pace.timer.cancel()

    # ---- looks -----------------------------------------------------------------------------------------------------

    def _due(self, watched: WatchedDisplay, *, changed: bool) -> None:
        """Look as soon as the pace allows: at once after a rest, else a tick's length after the look before."""
        pace = self._paces.get(watched.name)
        if pace is None:
            return
        if changed:
            pace.changed_s = self._now()
        elif pace.timer is not None and pace.timer.callback is not None:
            return
        if pace.timer is not None:
            pace.timer.cancel()
        hz = self._settings.active_hz if changed else self._settings.idle_hz
        at_s = max(self._now(), self._scenes.reader(watched).begun_s + 1 / hz)
        pace.timer = self._loop.call_at(at_s, lambda: self._look(watched))

    def _look(self, watched: WatchedDisplay) -> None:
        pace = self._paces.get(watched.name)
        if pace is None or self._watched_displays.by_name.get(watched.name) is not watched:
            return
        resting = self._now() - pace.changed_s > self._settings.idle_after_s
        mode = SceneMode.IDLE if resting else SceneMode.ACTIVE
        self._scenes.look([watched], mode, lambda: self._due(watched, changed=False))

    # ---- what moves ------------------------------------------------------------------------------------------------

    def source_up(self, source: Source) -> None:
        """A display came, or has a new ring: who wants it is told of it."""
        if self._live:
            self._apply()
            self._touch(source.name)

    def frame_seen(self, source: Source, notice: Notice) -> None:
        """Pixels changed."""
        if self._live and (notice.tiles or notice.fresh):
            self._touch(source.name)

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        """A display has no pixels: that is news too."""
        if self._live:
            self._touch(source.name)

    def windows_seen(self, watched: WatchedDisplay) -> None:
        """Windows came, went or moved."""
        if self._live:
            self._touch(watched.name)

    def _touch(self, name: str) -> None:
        watched = self._watched_displays.by_name.get(name)
        if watched is not None:
            self._due(watched, changed=True)
