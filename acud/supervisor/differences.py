"""Differences of kept pictures, made by an evaluator when somebody asks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from acud import private_files
from acud.errors import AcudError, Unavailable
from acud.ids import is_id
from acud.protocol.asks import DiffAsk, View
from acud.protocol.evaluation import Job, JobResult
from acud.supervisor.lanes import Lane
from acud.supervisor.pool import Pool
from acud.types import Evidence

Done = Callable[[bytes | AcudError], None]


class _DiffWork:
    """One difference."""

    lane = Lane.JUDGE
    priority = 0

    def __init__(self, evidence: Evidence, spool: Path, done: Done) -> None:
        self._evidence = evidence
        self._spool = spool
        self._done = done
        self.display = evidence.display

    def build(self, job_id: str) -> Job:
        """Return the job; it needs no frame."""
        ask = DiffAsk(self._evidence.before, self._evidence.name)
        return Job(job_id, View(self._evidence.display), "", 0, 0, diff=ask)

    def partly(self, result: JobResult) -> None:
        """A difference has no parts."""

    def finished(self, result: JobResult) -> None:
        """Answer with the picture, or why there is none."""
        if result.status != "done":
            self._done(Unavailable(f"no difference: {result.reason}"))
        elif not is_id(result.picture.removesuffix(".png"), "job"):
            self._done(Unavailable(f"an evaluator named a picture {result.picture!r}"))
        else:
            self._done(_taken(self._spool / result.picture))

    def lost(self, reason: str) -> None:
        """Answer with the fault."""
        self._done(Unavailable(f"no difference: {reason}", hint="acud status"))


class Differences:
    """Makes differences of evidence."""

    def __init__(self, pool: Pool, spool: Path) -> None:
        self._pool = pool
        self._spool = spool

    def make(self, evidence: Evidence, done: Done) -> None:
        """Call `done` with the PNG of what differs between the view before and after, or with the fault."""
        self._pool.submit(_DiffWork(evidence, self._spool, done))


def _taken(path: Path) -> bytes | Unavailable:
    try:
        return private_files.read_regular(path)
    except OSError as fault:
        return Unavailable(f"the picture could not be read: {fault.strerror}", hint="is the disk full?")
    finally:
        path.unlink(missing_ok=True)
