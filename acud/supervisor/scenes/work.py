"""One reading of a display, as the pool's work."""

from __future__ import annotations

from collections.abc import Callable

from acud.errors import AcudError, Unavailable
from acud.protocol.asks import Hide, View
from acud.protocol.evaluation import Job, JobResult
from acud.protocol.scene_parts import SceneAsk
from acud.supervisor.job_queues import Lane
from acud.supervisor.sources import Source

_TRIES = 5

Done = Callable[[JobResult | AcudError], None]


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
        done: Done,
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
