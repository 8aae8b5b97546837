"""What evaluators are given, the queues it waits in, and the places of a worker.

A `Work` is a promise, not a job: its job is built when a worker has room, so that it names the newest frame. An engine
reads one picture at a time, but holds some more, as they were when their turn came: it decides from step to step which
one to go on with (`acud.evaluator.ocr.read_queue`), and what is gone from the screen by then can still be read.

A queue is fair to displays: of equal priority, the display that was worked for least goes first. Time is what is
shared, not turns: a display that plays a film under a condition that takes a second to read gets one reading after the
other only while nobody else waits. A display that was quiet has nothing on its account and goes first when it wakes,
but cannot save up more than `CREDIT_S`, so that it does not starve the others in its turn. Nor does it get further
behind than that: one job that took long (an engine's first use, a worker that died) is made up for soon.
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
from acud.supervisor.frame_sources import Source

Item = TypeVar("Item")

CREDIT_S = 1.0
"""What a display may be behind the others, or ahead of them: about one full reading of a screen."""

_QUANTUM_S = 0.02
"""Charged when a job is sent, so that many sent at once count before the first is done."""

_MOST_ACCOUNTS = 1024

_MOST_TRIES = 5
"""Frames that are overwritten, one after the other, before a look at them is given up."""

_REDACT_PLACES = 8
"""As many pictures that the engine reads before they leave; their models are asked side by side."""


class FairQueue(Generic[Item]):
    """Items of displays. `rank` tells an item's rank: lower goes first, whoever's it is."""

    def __init__(self, rank: Callable[[Item], int]) -> None:
        self._rank = rank
        self._heap: list[tuple[int, float, int, str, Item]] = []
        """Rank, what its display had used, order of arrival, display, item; an older use is put right when it is up."""
        self._order = itertools.count()
        self._used_s: dict[str, float] = {}
        self._busy: Counter[str] = Counter()
        self._floor_s = 0.0
        """What the display that was picked last had used before: others cannot be further behind than the credit."""

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, display: str, item: Item) -> None:
        """Queue an item."""
        if not self._busy[display]:
            self._used_s[display] = max(self._used_s.get(display, 0.0), self._floor_s - CREDIT_S)
        self._busy[display] += 1
        heapq.heappush(self._heap, (self._rank(item), self._used_s[display], next(self._order), display, item))
        if len(self._used_s) > _MOST_ACCOUNTS:
            self._forget()

    def rerank(self) -> None:
        """Ask for every rank anew: what waits may have become more urgent, or less."""
        self._heap = [(self._rank(item), used, n, display, item) for _, used, n, display, item in self._heap]
        heapq.heapify(self._heap)

    def count_before(self, is_it: Callable[[Item], bool]) -> int:
        """Return how many items stand before the first one that `is_it`; all of them where none is it."""
        mine = min((row[:3] for row in self._heap if is_it(row[4])), default=None)
        return sum(mine is None or row[:3] < mine for row in self._heap)

    def next(self) -> str:
        """Return whose item `pop` would return. Raises: IndexError when there is none."""
        while (used := self._used_s[self._heap[0][3]]) != self._heap[0][1]:
            rank, _, n, display, item = self._heap[0]
            heapq.heapreplace(self._heap, (rank, used, n, display, item))  # accounts only grow: nobody is passed over
        return self._heap[0][3]

    def pop(self) -> Item:
        """Take the item whose turn it is; `done` follows. Raises: IndexError when there is none."""
        display = self.next()
        item = heapq.heappop(self._heap)[4]
        self._floor_s = max(self._floor_s, self._used_s[display])
        self._used_s[display] += _QUANTUM_S
        return item

    def done(self, display: str, used_s: float) -> None:
        """An item that was taken is no more: work of `used_s` seconds was done for its display."""
        self._busy[display] -= 1
        before_s = self._used_s.get(display, self._floor_s)
        most_s = max(before_s, self._floor_s + CREDIT_S)
        self._used_s[display] = min(before_s + max(0.0, used_s - _QUANTUM_S), most_s)

    def clear(self) -> list[Item]:
        """Take every item at once; none is charged to anybody."""
        taken, self._heap = sorted(self._heap, key=lambda one: one[:3]), []
        self._busy.subtract(one[3] for one in taken)
        return [one[4] for one in taken]

    def _forget(self) -> None:
        """Drop the accounts of displays that want nothing: their credit is bounded anyway."""
        self._used_s = {display: used for display, used in self._used_s.items() if self._busy[display]}
        self._busy = +self._busy


class Lane(StrEnum):
    """Which places a work may take."""

    OCR = "ocr"
    REDACT = "redact"
    """An evaluator with an engine, but not the engine's places: reading is short beside a remote model's answer."""
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

    def on_part(self, result: JobResult) -> None:
        """Take a part of the result; the rest is still to come."""
        ...

    def on_result(self, result: JobResult) -> None:
        """Take the result, or what is left of it; called at most once."""
        ...

    def on_lost(self, reason: str) -> None:
        """Learn that two workers in a row died or fell silent over it; called instead of `on_result`."""
        ...


class FrameWork:
    """A look at the newest frame of `source` that is at least the one of now; one that is overwritten is taken anew.

    `fill` completes the job as it is sent, or returns None where nobody wants it any more. `done` gets the result (its
    `status` is `done` or says why not), or the error of a source or of evaluators that were lost.
    """

    def __init__(
        self,
        submit: Callable[[Work], None],
        lane: Lane,
        source: Source,
        fill: Callable[[Job], Job | None],
        done: Callable[[JobResult | Unavailable], None],
        *,
        view: View | None = None,
        priority: int = 0,
    ) -> None:
        self.lane, self.display, self.priority = lane, source.display, priority
        self._submit, self._source, self._fill, self._done = submit, source, fill, done
        self._view = view or View(source.name)
        self._epoch, self._frame = source.epoch, source.frame
        self._tries = 0

    def build(self, job_id: str) -> Job | None:
        """Return the job for the ring as it is now; the source may have been lost meanwhile."""
        source = self._source
        if not source.live or source.path is None:
            self._done(Unavailable(f"{source.name} was lost: {source.lost_reason}", hint="acud display list"))
            return None
        least = min(self._frame, source.frame) if source.epoch == self._epoch else source.frame
        return self._fill(Job(job_id, self._view, str(source.path), source.epoch, least))

    def on_part(self, result: JobResult) -> None:
        """A look has no parts."""

    def on_result(self, result: JobResult) -> None:
        """Hand the result on, or take the next frame when this one was overwritten."""
        if result.status == "frame_gone" and self._tries < _MOST_TRIES:
            self._tries += 1
            self._submit(self)
        else:
            self._done(result)

    def on_lost(self, reason: str) -> None:
        """Nobody could look."""
        self._done(Unavailable(reason, hint="acud status"))


def most_jobs(limit: int) -> int:
    """Return how many jobs a worker has at most, where each lane has its places and that of judges `limit`."""
    return sum(_places(lane, limit) for lane in Lane)


def _places(lane: Lane, limit: int) -> int:
    return {Lane.OCR: min(MOST_READINGS_HELD, limit), Lane.REDACT: min(_REDACT_PLACES, limit), Lane.JUDGE: limit}[lane]


class JobEntry:
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
        self.running: dict[str, JobEntry] = {}
        self.read_s = 0.0
        """When the present process was last given text to read (monotonic); 0 for never."""
        self.judges: tuple[JudgeHealth, ...] = ()

    def places(self, lane: Lane, limit: int) -> int:
        """Return how many more jobs of `lane` it takes now."""
        if not self.ready or self.retiring or (lane is not Lane.JUDGE and not self.owns_ocr):
            return 0
        return _places(lane, limit) - self.running_in(lane)

    def running_in(self, lane: Lane) -> int:
        """Return how many jobs of `lane` it has in hand."""
        return sum(entry.work.lane is lane for entry in self.running.values())
