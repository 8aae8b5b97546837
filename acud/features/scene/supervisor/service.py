"""Scenes of the displays: requested, subscribed to, numbered; the last ones are kept for differences."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from acud.base import log
from acud.base.errors import AcudError
from acud.base.ids import new_id
from acud.features.scene.settings import SceneSettings
from acud.features.scene.supervisor.annotations import SceneAnnotations
from acud.features.scene.supervisor.assembly import (
    DisplayFacts,
    DisplayPrograms,
    Moment,
    ShownDisplay,
    assemble_scene,
    find_focused_window,
    make_apps,
    select_displays,
)
from acud.features.scene.supervisor.display_reader import DisplayElements, DisplayReader, ReaderPorts
from acud.features.scene.supervisor.unpainted_windows import UnpaintedWindows
from acud.features.scene.tables import ReservedNumbers, StandingElements
from acud.process.event_loop import Timer
from acud.protocol.capture import Notice
from acud.supervisor.core import Core
from acud.supervisor.coroutines import Callback, Resume
from acud.supervisor.frame_sources import Source
from acud.supervisor.observers import Order
from acud.supervisor.ports import SceneObservers
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Rect, WindowInfo
from acud.types.scene import Redacted, Scene, SceneMode, is_same

_NAME = "scene"


class Scenes:
    """Every display's newest reading, and their scene. It looks only on request: see `SceneSubscriptions`."""

    def __init__(
        self, core: Core, numbers: ReservedNumbers, standing: StandingElements, annotations: SceneAnnotations
    ) -> None:
        settings = core.settings.of(SceneSettings)
        self._watched_displays, self._sources, self._displays = core.watched_displays, core.sources, core.displays
        self._redaction, self._clock, self.loop = core.redaction, core.clock, core.loop
        self._numbers = numbers
        self._standing = standing
        self._annotations = annotations
        self.shown = SceneObservers()
        """Called with each scene that differs from the one before, in the turn that made it."""
        self._programs = DisplayPrograms(core.clock, core.display_pids)
        self._readers: dict[int, DisplayReader] = {}
        self._ports = ReaderPorts(
            UnpaintedWindows(core.watched_displays, core.sources, core.waits.targets, core.clock),
            core.sources,
            core.frame_requests,
            settings,
            core.clock.monotonic_s,
            core.pool,
            core.redaction.find_hidden,
            lambda reader: self.renew_scene(reader.mode),  # a scene that differs gets a number of its own
        )
        self._next = self._numbers.first(_NAME)
        self._kept: deque[Scene] = deque(maxlen=settings.kept)
        core.sources.watchers.add(self, Order.FEATURES)
        for forget in (standing.forget, numbers.forget, self._drop_reader):
            core.watched_displays.removed.add(forget, Order.FEATURES)

    def look(self, displays: Sequence[WatchedDisplay], mode: SceneMode, within_s: float = 0.0) -> Callback[None]:
        """Await a look at each of `displays` in at least `mode`, or the end of `within_s` seconds (0: no limit).

        A display not read by then keeps its earlier elements, or is unknown, with the reason.
        """
        return Callback(_JointLook(self, displays, mode, within_s).begin)

    def newest(self, displays: Sequence[WatchedDisplay]) -> Scene:
        """Return the newest scene of `displays`, without looking."""
        return select_displays(self.renew_scene(None), frozenset(watched.number for watched in displays))

    def former(self, scene_id: int, displays: Sequence[WatchedDisplay]) -> Scene | None:
        """Return the part of scene `scene_id` for `displays`; None when it is no longer kept."""
        found = next((scene for scene in self._kept if scene.scene_id == scene_id), None)
        return None if found is None else select_displays(found, frozenset(watched.number for watched in displays))

    def list_kept(self) -> Sequence[Scene]:
        """Return the kept scenes, newest first."""
        return tuple(reversed(self._kept))

    def secure(self, watched: WatchedDisplay) -> tuple[Rect, ...]:
        """Return the boxes of the password fields seen on `watched`."""
        return self.reader(watched).seen.secure

    @property
    def scene_id(self) -> int:
        """The newest scene's id; 0 before the first."""
        return self._kept[-1].scene_id if self._kept else 0

    def reader(self, watched: WatchedDisplay) -> DisplayReader:
        found = self._readers.get(watched.number)
        if found is None or found.watched is not watched:
            seen = found.seen if found is not None else DisplayElements(watched.number, self._numbers, self._standing)
            found = self._readers[watched.number] = DisplayReader(self._ports, watched, seen)
        return found

    def source_up(self, source: Source) -> None:
        """Do nothing: the next look reads the new ring."""

    def frame_seen(self, source: Source, notice: object) -> None:
        """Do nothing: a frame is read when a client asks; subscriptions watch for frames."""

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        """Drop the elements of a display without pixels at once."""
        reader = next((one for one in self._readers.values() if one.watched.name == source.name), None)
        if reader is not None:
            reader.mark_lost(reason)

    def renew_scene(self, mode: SceneMode | None) -> Scene:
        """Return the present scene of every display, with a new id if it differs from the one before."""
        moment = Moment(self._clock.monotonic_s(), int(self._clock.instant().utc_s * 1000), mode or self._find_mode())
        displays = sorted((s for s in self._watched_displays.by_name.values() if s.number), key=lambda s: s.number)
        self._readers = {n: one for n, one in self._readers.items() if n in {s.number for s in displays}}
        shown = [ShownDisplay(watched, self._find_pids(watched)) for watched in displays]
        made = assemble_scene(
            self.scene_id, moment, [self._gather_facts(s) for s in displays], make_apps(shown, self._redact_title)
        )
        if self._kept and is_same(self._kept[-1], made):
            self._kept[-1] = made
            return made
        made = replace(made, scene_id=self._next)
        self._next += 1
        self._numbers.record_given(_NAME, self._next)
        self._kept.append(made)
        for observer in self.shown:
            observer(made)
        return made

    def _find_mode(self) -> SceneMode:
        return self._kept[-1].reason if self._kept else SceneMode.IDLE

    def _drop_reader(self, watched: WatchedDisplay) -> None:
        self._readers.pop(watched.number, None)

    def _gather_facts(self, watched: WatchedDisplay) -> DisplayFacts:
        source = self._sources.by_name.get(watched.name)
        return DisplayFacts(
            watched,
            source,
            self.reader(watched).seen,
            watched.name == self._displays.default,
            find_focused_window(watched, self._redact_title),
            tuple(self._list_redacted(watched)),
            self._annotations.find_valid(watched.number, source),
        )

    def _list_redacted(self, watched: WatchedDisplay) -> list[Redacted]:
        found = [(window, self._redaction.title(watched, window)[1]) for window in watched.windows]
        return [Redacted(f"{window.window_id:#x}", rule) for window, rule in found if rule]

    def _redact_title(self, watched: WatchedDisplay, window: WindowInfo) -> str:
        return self._redaction.title(watched, window)[0]

    def _find_pids(self, watched: WatchedDisplay) -> tuple[int, ...]:
        display = self._displays.managed.living_by_name(watched.name)
        return self._programs.find_pids(str(display.places.folder)) if display is not None else ()


class _JointLook:
    """A look at several displays at once."""

    def __init__(self, scenes: Scenes, displays: Sequence[WatchedDisplay], mode: SceneMode, within_s: float) -> None:
        self._scenes = scenes
        self._mode = mode
        self._within_s = within_s
        self._left = {one.name: one for one in displays if one.number}  # one that is being added has no number yet
        """The displays still to be read."""

    def begin(self, resume: Resume[None]) -> None:
        """Begin; `resume` is called once."""
        if not self._left:
            self._scenes.renew_scene(self._mode)
            resume(None)
        elif self._within_s:
            self._scenes.loop.call_later(self._within_s, partial(self._end_late, resume))
        for watched in list(self._left.values()):
            self._scenes.reader(watched).look(self._mode).begin(partial(self._end_look, watched.name, resume))

    def _end_look(self, name: str, resume: Resume[None], outcome: AcudError | None) -> None:
        if self._left.pop(name, None) is None:
            return
        if outcome is not None:
            self._left.clear()
        if not self._left:
            resume(outcome)

    def _end_late(self, resume: Resume[None]) -> None:
        if not self._left:
            return
        for watched in self._left.values():
            self._scenes.reader(watched).mark_late(self._within_s)
        self._left.clear()
        self._scenes.renew_scene(self._mode)
        resume(None)


_LOG = log.logger("scene")
_ACTIVE_HZ = 4.0  # how often a subscribed display is looked at while it changes
_IDLE_HZ = 1.0  # the same once it has not changed for a while; what did not change is not read again
_IDLE_AFTER_S = 2.0
_CONSUMER = "scene"


class _Subscription(NamedTuple):
    """`names`: names of displays; empty for all."""

    names: frozenset[str]
    until_s: float

    def wants(self, name: str) -> bool:
        return not self.names or name in self.names


class _Pace:
    """When a display last changed, and the timer of its next look."""

    def __init__(self) -> None:
        self.changed_s = float("-inf")
        self.timer: Timer | None = None


class SceneSubscriptions:
    """Looks at displays as they change, while a client subscribes."""

    def __init__(self, core: Core, scenes: Scenes) -> None:
        self._scenes = scenes
        self._watched_displays, self._sources = core.watched_displays, core.sources
        self._loop, self._now = core.loop, core.loop.now_s
        self._settings = core.settings.of(SceneSettings)
        self._live: dict[str, _Subscription] = {}
        self._paces: dict[str, _Pace] = {}
        core.sources.watchers.add(self, Order.FEATURES)
        core.watched_displays.watchers.add(self, Order.FEATURES)
        core.notifications.changed.add(self.windows_seen, Order.FEATURES)

    def subscribe(self, names: frozenset[str], for_s: float, subscription: str = "") -> str:
        """Look at the displays `names` (none: all) for `for_s` from now on; return the subscription's id.

        A known id is prolonged, or ended with `for_s` 0; an expired one begins anew.
        """
        key = subscription or new_id("sub")
        if for_s <= 0:
            self._live.pop(key, None)
        else:
            self._live[key] = _Subscription(names, self._now() + for_s)
            self._loop.call_later(for_s, self._expire_leases)
        self._apply_wanted()
        return key

    def _expire_leases(self) -> None:
        self._live = {key: one for key, one in self._live.items() if one.until_s > self._now()}
        self._apply_wanted()

    def _apply_wanted(self) -> None:
        for watched in self._watched_displays.by_name.values():
            source = self._sources.by_name.get(watched.name)
            wanted = any(one.wants(watched.name) for one in self._live.values())
            if source is not None:
                self._sources.want(source, _CONSUMER, _ACTIVE_HZ if wanted else 0.0)
            if wanted and watched.name not in self._paces:
                self._paces[watched.name] = _Pace()
                self._schedule_look(watched, changed=True)
            elif not wanted:
                self._drop_pace(watched.name)
        for name in set(self._paces) - set(self._watched_displays.by_name):
            self._drop_pace(name)

    def _drop_pace(self, name: str) -> None:
        pace = self._paces.pop(name, None)
        if pace is not None and pace.timer is not None:
            pace.timer.cancel()

    def _schedule_look(self, watched: WatchedDisplay, *, changed: bool) -> None:
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
        hz = _ACTIVE_HZ if changed else _IDLE_HZ
        at_s = max(self._now(), self._scenes.reader(watched).begun_s + 1 / hz)
        pace.timer = self._loop.call_at(at_s, lambda: self._look_at_display(watched))

    def _look_at_display(self, watched: WatchedDisplay) -> None:
        pace = self._paces.get(watched.name)
        if pace is None or self._watched_displays.by_name.get(watched.name) is not watched:
            return
        resting = self._now() - pace.changed_s > _IDLE_AFTER_S
        mode = SceneMode.IDLE if resting else SceneMode.ACTIVE
        self._scenes.look([watched], mode).begin(partial(self._look_again, watched))

    def _look_again(self, watched: WatchedDisplay, outcome: AcudError | None) -> None:
        if outcome is not None:
            _LOG.warning("scene.not_looked", display=watched.name, fault=outcome.message)
        self._schedule_look(watched, changed=False)

    def source_up(self, source: Source) -> None:
        """Look for subscribers: a display came, or has a new ring."""
        if self._live:
            self._apply_wanted()
            self._look_soon(source.name)

    def frame_seen(self, source: Source, notice: Notice) -> None:
        """Look for subscribers: pixels changed."""
        if self._live and (notice.tiles or notice.fresh):
            self._look_soon(source.name)

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        """Look for subscribers: a display lost its pixels."""
        if self._live:
            self._look_soon(source.name)

    def windows_seen(self, watched: WatchedDisplay) -> None:
        """Look for subscribers: windows came, went or moved, or notifications did."""
        if self._live:
            self._look_soon(watched.name)

    def _look_soon(self, name: str) -> None:
        watched = self._watched_displays.by_name.get(name)
        if watched is not None:
            self._schedule_look(watched, changed=True)
