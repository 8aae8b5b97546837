"""One display's scene, read by evaluators: which requests share a reading, its mode, and what has to be read anew.

A request that comes before a reading's frame is grabbed shares that reading, which takes the strongest mode of them. A
later one gets the next reading: a frame grabbed before a call may not show what its caller just did.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from acud.errors import AcudError, Unavailable
from acud.features.scene.settings import SceneSettings
from acud.features.scene.supervisor.display_elements import DisplayElements
from acud.protocol.evaluation import Job, JobResult
from acud.protocol.questions import Hide, View
from acud.protocol.scene_parts import SceneAsk
from acud.supervisor.frame_requests import FrameRequests
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.job_queues import Lane, Work
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState
from acud.types.scene import ProviderState, SceneMode

_TRIES = 5

SceneReadDone = Callable[[JobResult | AcudError], None]


class SceneWork:
    """Reads the newest frame of a display that is at least the one of now. `ask` and `hide` are made at dispatch."""

    # An evaluator with an engine, but not the engine's one place: a hung application must not hold that.
    lane = Lane.REDACT
    priority = 0

    def __init__(
        self,
        source: Source,
        ask: Callable[[], SceneAsk],
        hide: Callable[[], Hide | None],
        submit: Callable[[SceneWork], None],
        done: SceneReadDone,
    ) -> None:
        self.display = source.display
        self._source = source
        self._ask = ask
        self._hide = hide
        self._submit = submit
        self._done = done
        self._epoch, self._frame = source.epoch, source.frame
        self._tries = 0

    def build(self, job_id: str) -> Job | None:
        """Return the job for the ring as it is now; the source may have been lost meanwhile."""
        source = self._source
        if not source.live or source.path is None:
            self._done(Unavailable(f"{source.name} was lost while it was read: {source.lost_reason}"))
            return None
        least = min(self._frame, source.frame) if source.epoch == self._epoch else source.frame
        view = View(source.name)
        return Job(job_id, view, str(source.path), source.epoch, least, scene=self._ask(), hide=self._hide())

    def partly(self, result: JobResult) -> None:
        """A reading has no parts."""

    def finished(self, result: JobResult) -> None:
        """Hand on what was read, or try the next frame when this one was overwritten."""
        if result.status == "done":
            self._done(result)
        elif result.status == "frame_gone" and self._tries < _TRIES:
            self._tries += 1
            self._submit(self)
        else:
            self._done(Unavailable(result.reason or result.status))

    def lost(self, reason: str) -> None:
        """Nobody could read it."""
        self._done(Unavailable(reason))


_STRENGTH = {mode: place for place, mode in enumerate(SceneMode)}


class Needs(NamedTuple):
    """What a look has to read anew."""

    ocr: bool
    ax: bool
    fresh: bool


class ReaderPorts(Protocol):
    """What every look needs."""

    sources: Sources
    frame_requests: FrameRequests
    settings: SceneSettings

    def now_s(self) -> float:
        """Return the monotonic clock."""
        ...

    def submit(self, work: Work) -> None:
        """Have an evaluator do it."""
        ...

    def hidden(self, source: Source) -> Hide | None:
        """Return what rules hide of it."""
        ...

    def looked(self, reader: DisplayReader) -> None:
        """A look ended; what is known may have changed."""
        ...


def strongest(modes: list[SceneMode]) -> SceneMode:
    """Return the mode that does all that each of `modes` does."""
    return max(modes, key=_STRENGTH.__getitem__)


class DisplayReader:
    """One display's looks, one at a time."""

    def __init__(self, parts: ReaderPorts, watched: WatchedDisplay, seen: DisplayElements) -> None:
        self._parts = parts
        self.watched = watched
        self.seen = seen
        self.mode = SceneMode.IDLE
        self.begun_s = float("-inf")
        self._asked: list[tuple[SceneMode, Callable[[], None]]] = []
        self._served: list[Callable[[], None]] = []
        self._running = False
        self._windows: object = None
        self._hidden: object = None
        """What was hidden of the pixels that the text was read of."""

    def ask(self, mode: SceneMode, done: Callable[[], None]) -> None:
        """Look, at least as `mode` says, at a frame grabbed from now on; then call `done`."""
        self._asked.append((mode, done))
        if not self._running:
            self._begin()

    def _begin(self) -> None:
        self._running = True
        source = self._parts.sources.by_name.get(self.watched.name)
        if self.watched.state is not DisplayState.UP or source is None:
            self.lost(self.watched.reason or f"the display is {self.watched.state.value}")
            self._take_asked()
            self._end()
        else:
            self._parts.frame_requests.fresh(source, self._grabbed)

    def _take_asked(self) -> None:
        asked, self._asked = self._asked, []
        self.mode = strongest([mode for mode, _ in asked])
        self._served = [done for _, done in asked]
        self.begun_s = self._parts.now_s()

    def _grabbed(self, outcome: Source | AcudError) -> None:
        self._take_asked()
        if isinstance(outcome, AcudError):
            self._unread(outcome.message)
            self._end()
            return
        needs = self._needs(outcome)
        if not needs.ocr:
            self.seen.text_stands(outcome.compared_mono_ns / 1e9)
        if needs.ocr or needs.ax:
            self._read(outcome, needs)
        else:
            self.seen.unchanged(outcome.compared_mono_ns / 1e9)
            self._end()

    def _needs(self, source: Source) -> Needs:
        seen, now_s = self.seen, self._parts.now_s()
        if self.mode is SceneMode.AGENT_TURN:
            return Needs(ocr=True, ax=True, fresh=True)
        frame = source.epoch, source.frame
        # However old they are: the same pixels say the same. What is hidden of them may be another.
        told_otherwise = self._hidden != _places(self._parts.hidden(source)) or not seen.ocr_secure_is_all
        ocr = frame != seen.ocr_frame or seen.ocr.state != "ready" or told_otherwise
        moved = self._windows != (self.watched.windows, self.watched.focused)
        ax = moved or frame != seen.ax_frame or now_s - seen.ax_at_s > self._parts.settings.ax_max_age_s
        return Needs(ocr, ax, fresh=False)

    def _read(self, source: Source, needs: Needs) -> None:
        work = SceneWork(
            source,
            lambda: self._ask(needs),
            lambda: self._hide(source, needs),
            self._parts.submit,
            lambda outcome: self._done(source, outcome),
        )
        self._parts.submit(work)

    def _hide(self, source: Source, needs: Needs) -> Hide | None:
        hide = self._parts.hidden(source)
        if needs.ocr:
            self._hidden = _places(hide)
        return hide

    def _ask(self, needs: Needs) -> SceneAsk:
        watched = self.watched
        self._windows = (watched.windows, watched.focused)
        return SceneAsk(
            needs.ocr,
            needs.ax,
            needs.fresh,
            watched.windows,
            watched.focused,
            watched.bus_address,
            watched.a11y_address,
            self.seen.secure,
        )

    def _done(self, source: Source, outcome: JobResult | AcudError) -> None:
        if isinstance(outcome, AcudError):
            self._unread(outcome.message)
        elif outcome.scene is None or outcome.epoch != source.epoch or not source.live:
            self._unread("the display began anew while it was read")
        else:
            self.seen.take(outcome, outcome.scene, (source.width, source.height), self._parts.now_s())
            if self.seen.ocr_frame == (source.epoch, source.frame):
                self.seen.text_stands(source.compared_mono_ns / 1e9)
        self._end()

    def _unread(self, reason: str) -> None:
        """Say that what is known is old; of a display without pixels nothing is known."""
        source = self._parts.sources.by_name.get(self.watched.name)
        if source is None or not source.live:
            self.lost(self.watched.reason or reason)
        else:
            self.seen.went_old(reason)

    def lost(self, reason: str) -> None:
        """The display has no pixels: nothing of it is shown any more, and why is said."""
        self._windows = None
        self.seen.forget(ProviderState("", "unavailable", reason))

    def _end(self) -> None:
        self.seen.drop_old_texts(self._parts.now_s(), self._parts.settings.ocr_ttl_s)
        self._running = False
        served, self._served = self._served, []
        self._parts.looked(self)
        for done in served:
            done()
        if self._asked and not self._running:
            self._begin()


def _places(hide: Hide | None) -> object:
    return None if hide is None else (hide.boxes, hide.fault)
