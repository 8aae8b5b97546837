"""The worker's loop: bounded work, an orderly drain, and one log line of counts a minute."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from acud.base import log
from acud.base.errors import Unavailable
from acud.config import JobSettings
from acud.evaluator.judges.judge import JudgeReply
from acud.features.fleet.job_worker import JobWorker, TakenJob
from acud.features.fleet.worker.judge_chain import STARTING, JobJudge
from acud.process import child_process
from acud.protocol.jobs import VisionAnswer, VisionOpen
from acud.types import Answer, unknown

_LOG = log.logger("worker")
_EVERY_S = 60.0
_AGAIN_S = 0.5


def pause_before_again_s(deliveries: int, left_s: float) -> float:
    """Return the pause before a job that was given out so often is given out again: doubled each time, and never more
    than a quarter of the time that is left for it.
    """
    return max(0.0, min(2.0 ** min(deliveries - 1, 10), left_s / 4))


class JobTally:
    """Counts since the start. `unwanted`: jobs without a waiting asker. `given_back`: jobs left to others. `cost_usd`
    is of the answers with a known cost; `unpriced` are the others.
    """

    def __init__(self) -> None:
        self.jobs = 0
        self.redelivered = 0
        self.unwanted = 0
        self.repeated = 0
        self.answers = 0
        self.unheard = 0
        self.unknown = 0
        self.expired = 0
        self.given_back = 0
        self.unpriced = 0
        self.tokens_in = 0
        self.tokens_out = 0
        self.cost_usd = 0.0
        self._told: dict[str, float] = {}

    def took(self, attempt: int) -> None:
        """Count a job that was begun, by the `attempt`th worker."""
        self.jobs += 1
        self.redelivered += attempt > 1

    def count_judged(self, reply: JudgeReply, heard: bool) -> None:
        """Count an answered question; `heard`: the asker has the answer."""
        self.answers += heard
        self.unheard += not heard
        self.unknown += reply.verdict.answer is Answer.UNKNOWN
        self.unpriced += reply.cost_usd is None
        self.tokens_in += reply.tokens_in or 0
        self.tokens_out += reply.tokens_out or 0
        self.cost_usd += reply.cost_usd or 0.0

    def figures(self) -> dict[str, float]:
        told = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return told | {"cost_usd": round(self.cost_usd, 6)}

    def log_figures(self, in_hand: int) -> None:
        self._told = self.figures()
        _LOG.info("worker.metrics", in_hand=in_hand, rss_mb=round(child_process.rss_mb(), 1), **self._told)

    async def log_figures_for_ever(self, in_hand: Callable[[], int]) -> None:
        """Log the figures once a minute, where anything changed."""
        while True:
            await asyncio.sleep(_EVERY_S)
            if self.figures() != self._told:
                self.log_figures(in_hand())


class JobService:
    """Works on jobs until stopped. `name`: this worker's name in its answers."""

    def __init__(self, name: str, queue: JobWorker, judge: JobJudge, settings: JobSettings) -> None:
        self.tally = JobTally()
        self._name = name
        self._queue = queue
        self._judge = judge
        self._settings = settings
        self._in_hand: set[asyncio.Task[None]] = set()
        self._jobs: set[str] = set()

    async def run(self, stopping: asyncio.Event) -> None:
        """Work until `stopping` is set; then finish what is in hand within `drain_s`, and give the rest back.

        An unexpected fault ends the worker: its jobs go to others.
        """
        async with asyncio.TaskGroup() as group:
            telling = group.create_task(self.tally.log_figures_for_ever(lambda: len(self._in_hand)))
            taking = group.create_task(self._take_jobs(group, stopping))
            await stopping.wait()
            while not taking.done():
                # More than once: what was fetched as the cancellation came is worth more (see `cancellation_kept`).
                taking.cancel()
                await asyncio.wait({taking}, timeout=_AGAIN_S)
            await self._queue.let_go()
            await self._drain_jobs()
            telling.cancel()
        self.tally.log_figures(len(self._in_hand))

    async def _take_jobs(self, group: asyncio.TaskGroup, stopping: asyncio.Event) -> None:
        places = asyncio.Semaphore(self._settings.worker_concurrency)
        while not stopping.is_set():
            await places.acquire()
            taken = await self._queue.next()
            if taken is None:
                places.release()
                continue
            task = group.create_task(self._work_once(taken))
            self._in_hand.add(task)
            task.add_done_callback(self._in_hand.discard)
            task.add_done_callback(lambda _: places.release())

    async def _drain_jobs(self) -> None:
        if self._in_hand:
            _LOG.info("worker.draining", jobs=len(self._in_hand))
            await asyncio.wait(self._in_hand, timeout=self._settings.drain_s)
        for task in self._in_hand:
            task.cancel()
        await asyncio.gather(*self._in_hand, return_exceptions=True)

    async def _work_once(self, taken: TakenJob) -> None:
        job_id = taken.job.job_id
        if job_id in self._jobs:
            # nats-server 2.9.10 may deliver a dead worker's job twice at once; acknowledging one is enough.
            self.tally.repeated += 1
            return
        self._jobs.add(job_id)
        try:
            await self._take_up(taken)
        finally:
            self._jobs.discard(job_id)

    async def _take_up(self, taken: TakenJob) -> None:
        left_s = taken.job.deadline_utc_s - time.time()
        if left_s <= 0:
            await self._refuse_late_job(taken, -left_s)
            return
        async with taken:
            found = await taken.announce_begin(self._name)
            if found is None or not found.questions:
                self.tally.unwanted += 1
                await taken.take_off_queue()
                return
            self.tally.took(found.begun)
            _LOG.info("job.taken", job=taken.job.job_id, host=taken.job.host, begun=found.begun)
            await self._answer_within(taken, found, left_s)

    async def _answer_within(self, taken: TakenJob, opening: VisionOpen, left_s: float) -> None:
        try:
            async with asyncio.timeout(left_s):
                await self._answer_all(taken, opening.questions, asyncio.get_running_loop().time() + left_s)
        except TimeoutError:
            self.tally.expired += 1
        except Unavailable as fault:
            _LOG.warning("job.given_back", job=taken.job.job_id, fault=fault.message)
            self.tally.given_back += 1
            pause_s = pause_before_again_s(taken.deliveries, taken.job.deadline_utc_s - time.time())
            await taken.give_back(pause_s, unharmed=fault.facts.get("reason") == STARTING)
            return
        except asyncio.CancelledError:
            self.tally.given_back += 1
            await taken.give_back(unharmed=True)
            raise
        await taken.take_off_queue()

    async def _answer_all(self, taken: TakenJob, numbers: tuple[int, ...], until_s: float) -> None:
        """Answer each question as its reply comes. Raises: Unavailable when one could not be asked."""
        asking = [asyncio.ensure_future(self._answer_question(taken, number, until_s)) for number in numbers]
        try:
            await asyncio.gather(*asking)
        finally:
            for task in asking:
                task.cancel()
            await asyncio.gather(*asking, return_exceptions=True)

    async def _answer_question(self, taken: TakenJob, number: int, until_s: float) -> None:
        started = time.perf_counter()
        reply = await self._judge.answer(taken.job, number)
        spent_ms = round((time.perf_counter() - started) * 1000, 1)
        self.tally.count_judged(
            reply, await taken.send_answer(self._make_answer(taken, number, reply, spent_ms), until_s)
        )

    def _make_answer(self, taken: TakenJob, number: int, reply: JudgeReply, spent_ms: float) -> VisionAnswer:
        return VisionAnswer(
            taken.job.job_id,
            number,
            taken.digest,
            reply.verdict,
            reply.judge,
            self._name,
            reply.tokens_in,
            reply.tokens_out,
            reply.cost_usd,
            spent_ms,
        )

    async def _refuse_late_job(self, taken: TakenJob, late_s: float) -> None:
        """Answer that the job is too late, if the asker still listens: their clocks may differ."""
        self.tally.expired += 1
        why = f"the job was due {late_s:.1f} s ago by this worker's clock: are both clocks right?"
        reply = JudgeReply(unknown("unavailable", why), cost_usd=0.0)
        for number in range(len(taken.job.questions)):
            await taken.send_answer(self._make_answer(taken, number, reply, 0.0), until_s=0.0)
        await taken.take_off_queue()
