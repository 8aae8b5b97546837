"""Scenes of the displays: asked for, subscribed to, numbered; the last ones kept for differences."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from acud.clock import Clock
from acud.features.scene.settings import SceneSettings
from acud.features.scene.supervisor.annotations import SceneAnnotations
from acud.features.scene.supervisor.assembly import (
    DisplayFacts,
    DisplayPrograms,
    Moment,
    ShownDisplay,
    apps,
    assemble_scene,
    focused,
    part_of,
)
from acud.features.scene.supervisor.display_elements import DisplayElements
from acud.features.scene.supervisor.display_reader import DisplayReader
from acud.features.scene.tables import ReservedNumbers
from acud.protocol.questions import Hide
from acud.supervisor.display_registry import DisplayRegistry
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.frame_requests import FrameRequests
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.job_queues import Work
from acud.supervisor.journal import Journal
from acud.supervisor.observers import Observers, Order
from acud.supervisor.redaction import Redaction
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import Rect, WindowInfo
from acud.types.scene import (
    Redacted,
    Scene,
    SceneMode,
    is_same,
)

_NAME = "scene"


class Scenes:
    """Every display's newest reading, and the scene they make. It looks only when asked to: see `subscriptions`."""

    def __init__(
        self,
        pool: EvaluatorPool,
        watched_displays: WatchedDisplays,
        sources: Sources,
        frame_requests: FrameRequests,
        displays: DisplayRegistry,
        redaction: Redaction,
        journal: Journal,
        clock: Clock,
        settings: SceneSettings,
        display_pids: Callable[[], set[int]],
        numbers: ReservedNumbers,
        annotations: SceneAnnotations,
    ) -> None:
        self._pool = pool
        self._watched_displays = watched_displays
        self.sources = sources
        self.frame_requests = frame_requests
        self._displays = displays
        self._redaction = redaction
        self._journal = journal
        self._clock = clock
        self.settings = settings
        self._numbers = numbers
        self._annotations = annotations
        self.shown = Observers[Callable[[Scene], None]]()
        """Called with each scene that differs from the one before, in the turn that made it."""
        self._programs = DisplayPrograms(clock.monotonic_s, display_pids)
        self._readers: dict[int, DisplayReader] = {}
        self._next = self._numbers.first(_NAME)
        self._kept: deque[Scene] = deque(maxlen=settings.kept)
        sources.watchers.add(self, Order.FEATURES)
        watched_displays.removed.add(self._numbers.forget, Order.FEATURES)
        watched_displays.removed.add(self._drop, Order.FEATURES)

    # ---- asked -----------------------------------------------------------------------------------------------------

    def look(self, displays: Sequence[WatchedDisplay], mode: SceneMode, done: Callable[[], None]) -> None:
        """Look at `displays`, at least as `mode` says; call `done` when every one was looked at."""
        displays = [watched for watched in displays if watched.number]  # one that is being added has none yet
        left = {watched.name for watched in displays}
        if not left:
            self.renew(mode)
            done()

        def one_done(name: str) -> None:
            left.discard(name)
            if not left:
                done()

        for watched in displays:
            self._reader(watched).ask(mode, partial(one_done, watched.name))

    def newest(self, displays: Sequence[WatchedDisplay]) -> Scene:
        """Return the scene of `displays` as it is known now, without looking."""
        return part_of(self.renew(None), frozenset(watched.number for watched in displays))

    def former(self, scene_id: int, displays: Sequence[WatchedDisplay]) -> Scene | None:
        """Return what the scene `scene_id` showed of `displays`; None when it is no longer kept."""
        found = next((scene for scene in self._kept if scene.scene_id == scene_id), None)
        return None if found is None else part_of(found, frozenset(watched.number for watched in displays))

    def remembered(self) -> Sequence[Scene]:
        """Return the scenes that are still kept, newest first."""
        return tuple(reversed(self._kept))

    def secure(self, watched: WatchedDisplay) -> tuple[Rect, ...]:
        """Return the boxes of the password fields that were seen on `watched`."""
        return self._reader(watched).seen.secure

    @property
    def scene_id(self) -> int:
        """The newest scene's id; 0 before the first."""
        return self._kept[-1].scene_id if self._kept else 0

    def reader(self, watched: WatchedDisplay) -> DisplayReader:
        """Return the looks at `watched`."""
        return self._reader(watched)

    def _reader(self, watched: WatchedDisplay) -> DisplayReader:
        found = self._readers.get(watched.number)
        if found is None or found.watched is not watched:
            seen = found.seen if found is not None else DisplayElements(watched.number, self._numbers)
            found = self._readers[watched.number] = DisplayReader(self, watched, seen)
        return found

    # ---- what looks need and say -----------------------------------------------------------------------------------

    def now_s(self) -> float:
        """Return the monotonic clock."""
        return self._clock.monotonic_s()

    def submit(self, work: Work) -> None:
        """Have an evaluator do it."""
        self._pool.submit(work)

    def hidden(self, source: Source) -> Hide | None:
        """Return what rules hide of it."""
        return self._redaction.of(source)

    def looked(self, reader: DisplayReader) -> None:
        """A look ended: a scene that differs gets a number of its own."""
        self.renew(reader.mode)

    def source_up(self, source: Source) -> None:
        """A ring was attached; the next look reads it."""

    def frame_seen(self, source: Source, notice: object) -> None:
        """Do nothing: a frame is read when a client asks; subscriptions watch for frames."""

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        """A display without pixels is shown without elements, at once."""
        reader = next((one for one in self._readers.values() if one.watched.name == source.name), None)
        if reader is not None:
            reader.lost(reason)

    # ---- the scene -------------------------------------------------------------------------------------------------

    def renew(self, mode: SceneMode | None) -> Scene:
        """Return the scene of every display as it is known now; one that shows something else has a new id."""
        moment = Moment(self.now_s(), int(self._clock.instant().utc_s * 1000), mode or self._mode())
        displays = sorted(
            (s for s in self._watched_displays.by_name.values() if s.number), key=lambda watched: watched.number
        )
        self._forget({watched.number for watched in displays})
        shown = [ShownDisplay(watched, self._pids(watched)) for watched in displays]
        made = assemble_scene(self.scene_id, moment, [self._known(s) for s in displays], apps(shown, self._title))
        if self._kept and is_same(self._kept[-1], made):
            self._kept[-1] = made
            return made
        made = replace(made, scene_id=self._next)
        self._next += 1
        self._numbers.given(_NAME, self._next)
        self._kept.append(made)
        for told in self.shown:
            told(made)
        return made

    def _mode(self) -> SceneMode:
        return self._kept[-1].reason if self._kept else SceneMode.IDLE

    def _forget(self, numbers: set[int]) -> None:
        for number in set(self._readers) - numbers:
            del self._readers[number]

    def _drop(self, watched: WatchedDisplay) -> None:
        self._readers.pop(watched.number, None)

    def _known(self, watched: WatchedDisplay) -> DisplayFacts:
        source = self.sources.by_name.get(watched.name)
        return DisplayFacts(
            watched,
            source,
            self._reader(watched).seen,
            watched.name == self._displays.default,
            focused(watched, self._title),
            tuple(self._redacted(watched)),
            self._annotations.of(watched.number, source),
        )

    def _redacted(self, watched: WatchedDisplay) -> list[Redacted]:
        found = [(window, self._redaction.title(watched, window)[1]) for window in watched.windows]
        return [Redacted(f"{window.window_id:#x}", rule) for window, rule in found if rule]

    def _title(self, watched: WatchedDisplay, window: WindowInfo) -> str:
        return self._redaction.title(watched, window)[0]

    def _pids(self, watched: WatchedDisplay) -> tuple[int, ...]:
        display = self._displays.managed.living_by_name(watched.name)
        return self._programs.of(str(display.places.folder)) if display is not None else ()
