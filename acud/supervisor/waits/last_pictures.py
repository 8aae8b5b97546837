"""The last pictures of waits on a display that is gone, read from the ring that its capture process left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from acud.base.ids import new_id
from acud.process.event_loop import EventLoop
from acud.protocol.evaluation import Job, JobResult
from acud.protocol.questions import Ask, View
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.job_queues import Lane
from acud.supervisor.redaction import Redaction
from acud.supervisor.waits.active_waits import ActiveWait
from acud.types import Evidence
from acud.waits.schedule import EVIDENCE_PRIORITY

PATIENCE_S = 3.0
"""A wait fails after this at the latest, with or without its picture."""

Done = Callable[[Evidence | None], None]


class LastPictures:
    """Has evaluators keep the newest frame of the targets of waits; the rings are held until then."""

    def __init__(self, pool: EvaluatorPool, sources: Sources, redaction: Redaction, loop: EventLoop) -> None:
        self._pool, self._sources, self._redaction, self._loop = pool, sources, redaction, loop

    def take_last(self, active: ActiveWait, on_done: Done) -> None:
        """Call `on_done` in a later turn with the picture, or the reason for none; None if its target was not in view.
        Call before the display's sources are forgotten.
        """
        source, view_state = self._sources.by_name.get(active.source), active.machine.view_state
        if source is None or source.path is None or view_state is None or view_state.was_hidden:
            self._loop.call_later(0.0, lambda: on_done(None))
            return
        self._pool.submit(
            _LastPicture(self._sources, self._redaction, self._loop, active, source, source.path, on_done)
        )


class _LastPicture:
    """One job: the picture of one wait."""

    priority = EVIDENCE_PRIORITY

    def __init__(
        self,
        sources: Sources,
        redaction: Redaction,
        loop: EventLoop,
        active: ActiveWait,
        source: Source,
        path: Path,
        on_done: Done,
    ) -> None:
        self._sources, self._path, self._done = sources, path, on_done
        self.display = source.display
        self.lane = Lane.REDACT if redaction.needs_reader(local=True, keeps_evidence=True) else Lane.JUDGE
        self._over = False
        sources.hold_ring(path)
        ask = Ask(active.wait_id, active.machine.until, (), keep_evidence=True, is_last_look=True)
        view = View(source.name, active.crop, active.ignore)
        # Take the hidden windows now: the display's window list goes with the display.
        hide = redaction.find_hidden(source)
        self._job = Job(new_id("job"), view, str(path), source.epoch, 0, asks=(ask,), hide=hide)
        self._timer = loop.call_later(PATIENCE_S, lambda: self._end(Evidence(reason="no evaluator made it in time")))

    def build(self, job_id: str) -> Job | None:
        return None if self._over else replace(self._job, job_id=job_id)

    def on_part(self, result: JobResult) -> None:
        """Do nothing: a single picture has no parts."""

    def on_result(self, result: JobResult) -> None:
        kept = next((answered.evidence for answered in result.answered), None)
        self._end(kept or Evidence(reason=f"no picture: {result.reason or 'the evaluator kept none'}"))

    def on_lost(self, reason: str) -> None:
        self._end(Evidence(reason=f"no picture: {reason}"))

    def _end(self, evidence: Evidence) -> None:
        if not self._over:
            self._over = True
            self._timer.cancel()
            self._sources.release_ring(self._path)
            self._done(evidence)
