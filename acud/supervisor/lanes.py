"""What evaluators are given, and who of them takes what: works, the lanes they queue in, and the places of a worker.

A `Work` is a promise, not a job: its job is built when a worker has room, so that it names the newest frame. The OCR
lane has one place per engine (a full-frame OCR takes seconds of a core; a frame picked earlier would be stale by then).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from acud.ids import new_id
from acud.protocol.evaluation import Job, JobResult, JudgeHealth
from acud.supervisor.child import Child

_OCR_PLACES = 1
_REDACT_PLACES = 8
"""Pictures held while the one engine reads them in turn (30 MB at 720p), their models asked side by side."""


class Lane(StrEnum):
    """Which places a work may take."""

    OCR = "ocr"
    REDACT = "redact"
    """An evaluator with an engine, but not the engine's one place: reading is short beside a remote model's answer."""
    JUDGE = "judge"


class Work(Protocol):
    """Something for an evaluator to do."""

    lane: Lane
    display: str

    @property
    def priority(self) -> int:
        """Return its rank as of now (`acud.waits.schedule`): lower goes first."""
        ...

    def build(self, job_id: str) -> Job | None:
        """Return the job as of now, or None when nobody wants it any more. A second try has the same `job_id`."""
        ...

    def partly(self, result: JobResult) -> None:
        """Take a part of the result; the rest is still to come."""
        ...

    def finished(self, result: JobResult) -> None:
        """Take the result, or what is left of it; called at most once."""
        ...

    def lost(self, reason: str) -> None:
        """Learn that two workers in a row died or fell silent over it; called instead of `finished`."""
        ...


class Entry:
    """A work in the queue, or running with a worker."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.job_id = new_id("job")
        self.source = ""
        """Whose frame it is about, once it was sent."""
        self.tries = 0
        self.listed_s = 0.0
        self.sent_s = 0.0


class Worker:
    """One evaluator slot."""

    def __init__(self, child: Child, owns_ocr: bool) -> None:
        self.child = child
        self.owns_ocr = owns_ocr
        self.ready = False
        self.retiring = False
        self.running: dict[str, Entry] = {}
        self.judges: tuple[JudgeHealth, ...] = ()

    def places(self, lane: Lane, limit: int) -> int:
        """Return how many more jobs of `lane` it takes now."""
        if not self.ready or self.retiring or (lane is not Lane.JUDGE and not self.owns_ocr):
            return 0
        busy = sum(1 for running in self.running.values() if running.work.lane is lane)
        return {Lane.OCR: _OCR_PLACES, Lane.REDACT: min(_REDACT_PLACES, limit), Lane.JUDGE: limit}[lane] - busy
