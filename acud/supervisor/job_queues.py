"""The work for evaluators, its fair queues, and the places of a worker.

A `Work` is not a job yet: its job is built when a worker has room, so that it names the newest frame. An engine reads
one picture at a time, but holds some more as they were when they were sent: it decides from step to step which one to
continue (`acud.evaluator.ocr.read_queue`), and can still read what has left the screen by then.

A queue is fair to displays: of equal priority, the display with the least service time goes first. Time is shared, not
turns: a display that plays a film under a condition that takes a second to read gets one reading after the other only
while no other display waits. A quiet display has an empty account and goes first when it wakes, but saves up no more
than `CREDIT_S`, so that it does not starve the others. Nor does a display get further behind than that: one long job
(an engine's first use, a worker that died) is made up for soon.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from acud.base.errors import Unavailable
from acud.base.ids import new_id
from acud.protocol.evaluation import MOST_READINGS_HELD, Job, JobResult, JudgeHealth
from acud.protocol.questions import View
from acud.supervisor.children import Child
from acud.supervisor.coroutines import Resume
from acud.supervisor.frame_sources import Source

Item = TypeVar("Item")

CREDIT_S = 1.0
"""How far a display's account may be behind or ahead of the others: about one full reading of a screen."""

_QUANTUM_S = 0.02  # charged when a job is sent, so that many sent at once count before the first is done

_MOST_ACCOUNTS = 1024

_MOST_TRIES = 5  # A look is given up after so many frames that were overwritten before they were read

_REDACT_PLACES = 8
"""Pictures held at once for reading before they leave the machine; remote models judge them in parallel."""


class FairQueue(Generic[Item]):
    """Items of displays. `rank` returns an item's rank: lower goes first, of any display."""

    def __init__(self, rank: Callable[[Item], int]) -> None:
        self._rank = rank
        self._heap: list[tuple[int, float, int, str, Item]] = []
        """Rank, time used by its display, order of arrival, display, item; a stale time is corrected at the top."""
        self._order = itertools.count()
        self._used_s: dict[str, float] = {}
        self._busy: Counter[str] = Counter()
        self._floor_s = 0.0
        """The time used by the display picked last, before that; others are behind it by at most the credit."""

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, display: str, item: Item) -> None:
        if not self._busy[display]:
            self._used_s[display] = max(self._used_s.get(display, 0.0), self._floor_s - CREDIT_S)
        self._busy[display] += 1
        heapq.heappush(self._heap, (self._rank(item), self._used_s[display], next(self._order), display, item))
        if len(self._used_s) > _MOST_ACCOUNTS:
            self._forget_idle()

    def rerank(self) -> None:
        """Compute every rank again, as the urgency of queued items changes."""
        self._heap = [(self._rank(item), used, n, display, item) for _, used, n, display, item in self._heap]
        heapq.heapify(self._heap)

    def count_before(self, is_it: Callable[[Item], bool]) -> int:
        """Return how many items are before the first one for which `is_it` holds; all of them if there is none."""
        mine = min((row[:3] for row in self._heap if is_it(row[4])), default=None)
        return sum(mine is None or row[:3] < mine for row in self._heap)

    def next(self) -> str:
        """Return the display of the item that `pop` would return. Raises: IndexError when there is none."""
        while (used := self._used_s[self._heap[0][3]]) != self._heap[0][1]:
            rank, _, n, display, item = self._heap[0]
            heapq.heapreplace(self._heap, (rank, used, n, display, item))  # accounts only grow: no item is skipped
        return self._heap[0][3]

    def pop(self) -> Item:
        """Take the next item; `charge` follows. Raises: IndexError when there is none."""
        display = self.next()
        item = heapq.heappop(self._heap)[4]
        self._floor_s = max(self._floor_s, self._used_s[display])
        self._used_s[display] += _QUANTUM_S
        return item

    def charge(self, display: str, used_s: float) -> None:
        """Charge `used_s` seconds of work to the display of a taken item, which is finished."""
        self._busy[display] -= 1
        before_s = self._used_s.get(display, self._floor_s)
        most_s = max(before_s, self._floor_s + CREDIT_S)
        self._used_s[display] = min(before_s + max(0.0, used_s - _QUANTUM_S), most_s)

    def clear(self) -> list[Item]:
        """Take every item at once, without charging their displays."""
        taken, self._heap = sorted(self._heap, key=lambda one: one[:3]), []
        self._busy.subtract(one[3] for one in taken)
        return [one[4] for one in taken]

    def _forget_idle(self) -> None:
        """Drop the accounts of displays without items: their credit is bounded anyway."""
        self._used_s = {display: used for display, used in self._used_s.items() if self._busy[display]}
        self._busy = +self._busy


class Lane(StrEnum):
    """The kind of place that a work takes."""

    OCR = "ocr"
    REDACT = "redact"
    """An evaluator with an OCR engine, but not its places: reading takes little beside a remote model's answer."""
    JUDGE = "judge"


class Work(Protocol):
    """Something for an evaluator to do."""

    lane: Lane
    display: str

    @property
    def priority(self) -> int:
        """Return its rank as of now (`acud.waits.schedule`): lower goes first."""

    def build(self, job_id: str) -> Job | None:
        """Return the job as it is due now, or None when it is not needed any more. A retry keeps the `job_id`."""

    def on_part(self, result: JobResult) -> None:
        """Handle a part of the result; the rest follows."""

    def on_result(self, result: JobResult) -> None:
        """Handle the result, or its last part; called at most once."""

    def on_lost(self, reason: str) -> None:
        """Handle that two workers in a row died or hung over it; called instead of `on_result`."""


FillJob = Callable[[Job], Job | None]
"""Completes a job as it is sent, or returns None when it is not needed any more."""


class FrameWork:
    """A look at the newest frame of `source`, at least the present one; repeated if the frame is overwritten.

    `on_done` gets the result (its `status` is `done` or the fault), or the error of a lost source or lost evaluators.
    """

    def __init__(
        self,
        submit: Callable[[Work], None],
        lane: Lane,
        source: Source,
        fill: FillJob,
        on_done: Resume[JobResult],
        *,
        view: View | None = None,
        priority: int = 0,
    ) -> None:
        self.lane, self.display, self.priority = lane, source.display, priority
        self._submit, self._source, self._fill, self._done = submit, source, fill, on_done
        self._view = view or View(source.name)
        self._epoch, self._frame = source.epoch, source.frame
        self._tries = 0

    def build(self, job_id: str) -> Job | None:
        """Return the job for the source's newest ring; None if the source was lost meanwhile."""
        source = self._source
        if not source.live or source.path is None:
            self._done(Unavailable(f"{source.name} was lost: {source.lost_reason}", hint="acud display list"))
            return None
        least = min(self._frame, source.frame) if source.epoch == self._epoch else source.frame
        return self._fill(Job(job_id, self._view, str(source.path), source.epoch, least))

    def on_part(self, result: JobResult) -> None:
        """Do nothing: a job on one frame has no partial results."""

    def on_result(self, result: JobResult) -> None:
        """Pass the result on, or look at the next frame if this one was overwritten."""
        if result.status == "frame_gone" and self._tries < _MOST_TRIES:
            self._tries += 1
            self._submit(self)
        else:
            self._done(result)

    def on_lost(self, reason: str) -> None:
        self._done(Unavailable(reason, hint="acud status"))


def most_jobs(limit: int) -> int:
    """Return the most jobs of a worker: the places of all lanes together, of which judges have `limit`."""
    return sum(_count_places(lane, limit) for lane in Lane)


def _count_places(lane: Lane, limit: int) -> int:
    return {Lane.OCR: min(MOST_READINGS_HELD, limit), Lane.REDACT: min(_REDACT_PLACES, limit), Lane.JUDGE: limit}[lane]


class JobEntry:
    """A work in the queue, or running with a worker."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.job_id = new_id("job")
        self.source = ""  # the source of its frame, once it was sent
        self.tries = 0
        self.listed_s = 0.0
        self.sent_s = 0.0


class Worker:
    """One evaluator slot."""

    def __init__(self, child: Child, owns_ocr: bool) -> None:
        self.child, self.owns_ocr = child, owns_ocr
        self.ready = False
        self.retiring = False
        self.running: dict[str, JobEntry] = {}
        self.read_s = 0.0  # when the present process last got text to read (monotonic); 0 for never
        self.judges: tuple[JudgeHealth, ...] = ()

    def count_free(self, lane: Lane, limit: int) -> int:
        """Return how many more jobs of `lane` it takes now."""
        if not self.ready or self.retiring or (lane is not Lane.JUDGE and not self.owns_ocr):
            return 0
        return _count_places(lane, limit) - self.running_in(lane)

    def running_in(self, lane: Lane) -> int:
        return sum(entry.work.lane is lane for entry in self.running.values())
