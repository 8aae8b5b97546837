"""The backend `fleet`: views judged by workers on other machines, through the fleet's work queue.

Questions about one picture that come together travel together, so that the picture travels once; each is answered for
itself. Nothing of NATS is imported before the first of them, or before a chain names this backend.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from acud.base.errors import AcudError, ConfigError, ProtocolError, Refused, Unavailable
from acud.base.extras import require
from acud.config import JobSettings, VisionSettings
from acud.config.fleet import FleetSettings
from acud.evaluator.judges.faults import CONTINUES, FREE, CallFailed, KeyFilter, TokenUsage
from acud.evaluator.judges.judge import JudgePicture, JudgeQuestion, JudgeReply
from acud.evaluator.judges.retry import CallClock, CallLimits, RetriedCalls
from acud.protocol.evaluation import JudgeHealth
from acud.protocol.jobs import MAX_QUESTIONS, JobQuestion, VisionAnswer, VisionJob
from acud.types import JudgeName, unknown

if TYPE_CHECKING:
    from acud.features.fleet.job_client import JobClient, OpenJob

_BREATH_S = 0.002
"""Questions about one picture that come within this time share a job."""
_SLACK_S = 1.0
"""The bound on a whole call is this much later than its job's deadline, so that the job's own reason is returned."""
_LOOK_AGAIN_S = 0.2
"""A waiting worker asks for work every few seconds; in between it is not visible for a moment."""


class FleetJudge:
    """Asks workers. `local`: the settings declare that pictures sent to them stay in one's own hands."""

    name = JudgeName.FLEET.value

    def __init__(
        self, fleet: FleetSettings, jobs: JobSettings, vision: VisionSettings, clock: CallClock | None = None
    ) -> None:
        self.local = jobs.local
        self._fleet = fleet
        self._jobs = jobs
        self._vision = vision
        self._timeout_s = jobs.timeout_s or vision.timeout_s
        self._words = KeyFilter(())
        limits = CallLimits(
            self._timeout_s + _SLACK_S,
            1,
            jobs.concurrency,
            breaker_failures=vision.breaker_failures,
            breaker_open_s=vision.breaker_open_s,
        )
        self._calls = RetriedCalls(self.name, limits, clock)
        self._job_client: JobClient | None = None
        self._gathering: dict[int, _FleetBatch] = {}
        self._is_deserted = False
        """Whether there was no worker when last looked for: then nobody takes a job, and none costs anything."""
        self._sending: set[asyncio.Task[None]] = set()

    async def evaluate(self, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        """Return a worker's verdict within the time limit; `unknown(unavailable)` when none was to be had."""
        try:
            answer = (await self._calls.run(lambda: self._await_answer(question, picture))).value
        except CallFailed as fault:
            spent = (fault.usage.tokens_in, fault.usage.tokens_out, fault.usage.cost_usd)
            return JudgeReply(unknown(fault.reply_code, self._words.line(fault.message)), *spent, self.name)
        return JudgeReply(answer.verdict, answer.tokens_in, answer.tokens_out, answer.cost_usd, self.name)

    async def _await_answer(self, question: JudgeQuestion, picture: JudgePicture) -> VisionAnswer:
        batch, number = self._add_to_batch(question, picture)
        try:
            async with asyncio.timeout(self._timeout_s):
                return _check_heard(await batch.answer(number))
        except TimeoutError:
            why = await self._why_late(batch)
            raise CallFailed("unavailable", why, usage=FREE if self._is_deserted else batch.lost) from None
        except Refused as fault:
            raise CallFailed("rejected", str(fault)) from fault
        except (Unavailable, ConfigError, ProtocolError) as fault:
            raise CallFailed("unavailable", str(fault), usage=batch.lost) from fault
        finally:
            batch.drop_caller(number)

    def _add_to_batch(self, question: JudgeQuestion, picture: JudgePicture) -> tuple[_FleetBatch, int]:
        batch = self._gathering.get(id(picture))
        if batch is None or batch.full:
            batch = self._gathering[id(picture)] = _FleetBatch(picture)
            task = asyncio.create_task(self._send_batch(batch))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        return batch, batch.put(question)

    async def _send_batch(self, batch: _FleetBatch) -> None:
        await asyncio.sleep(_BREATH_S)
        if self._gathering.get(id(batch.picture)) is batch:
            del self._gathering[id(batch.picture)]
        deadline_utc_s = time.time() + self._timeout_s - _BREATH_S
        try:
            client = await self._open_line()
            job = batch.job(self._vision.system_instructions, deadline_utc_s, redacted=not self.local)
            batch.mark_sent(client, await client.ask(job))
        except AcudError as fault:
            batch.fail(fault)

    async def _open_line(self) -> JobClient:
        """Return the line to the workers, opened by the first call. Raises: Unavailable, ConfigError, NotInstalled."""
        if not self._fleet.urls:
            raise Unavailable("this host is in no fleet", hint="set [fleet] url, or name another backend")
        require("fleet", "the backend fleet")
        if self._job_client is None:
            from acud.features.fleet.job_client import JobClient

            self._job_client = JobClient(self._fleet, self._jobs)
            await self._job_client.open()
        await self._job_client.prepare(min(self._vision.connect_timeout_s, self._timeout_s))
        return self._job_client

    async def _why_late(self, batch: _FleetBatch) -> str:
        late = f"no worker answered within {self._timeout_s:g} s"
        if batch.asked is None or self._job_client is None:
            return f"{late}: the job was not taken by the servers"
        try:
            async with asyncio.timeout(_SLACK_S / 2):
                there = await self._job_client.workers()
        except TimeoutError:
            return f"{late}; the servers do not answer now"
        except Unavailable as fault:
            return f"{late}; {fault.message}"
        refused = f"; {self._job_client.refused}" if self._job_client.refused else ""
        return f"{late}; {_describe_workers(there)} of kind {self._jobs.kind!r}{refused}"

    async def check_health(self) -> JudgeHealth:
        """Return ready when a worker waits for jobs or has some in hand, else down and why. Costs nothing."""
        refused = self._calls.closed_reason()
        if refused:
            return JudgeHealth(self.name, "down", self._words.line(refused))
        try:
            async with asyncio.timeout(2 * self._vision.connect_timeout_s):
                there = await self._count_workers()
        except (TimeoutError, AcudError) as fault:
            return JudgeHealth(self.name, "down", self._words.line(str(fault) or "the servers do not answer"))
        self._is_deserted = not there
        if not there:
            none = f"no worker of kind {self._jobs.kind!r} waits for jobs: acud fleet worker on another machine"
            return JudgeHealth(self.name, "down", none)
        return JudgeHealth(self.name, "ready")

    async def _count_workers(self) -> int:
        line = await self._open_line()
        found = await line.workers()
        if not found:
            await asyncio.sleep(_LOOK_AGAIN_S)
            found = await line.workers()
        return found

    async def close(self) -> None:
        """End what is out and the connection; closing twice is harmless."""
        for task in tuple(self._sending):
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)
        client, self._job_client = self._job_client, None
        if client is not None:
            await client.close()


class _FleetBatch:
    """Questions about one picture on their way to a job, and then that job."""

    def __init__(self, picture: JudgePicture) -> None:
        self.picture = picture
        self.asked: OpenJob | None = None
        self._job_client: JobClient | None = None
        self._questions: list[JudgeQuestion] = []
        self._gone: set[int] = set()
        self._sent: asyncio.Future[OpenJob] = asyncio.get_running_loop().create_future()

    @property
    def full(self) -> bool:
        return len(self._questions) >= MAX_QUESTIONS

    @property
    def lost(self) -> TokenUsage:
        """Cost of an answer that never came: nothing if no worker can have been asked, else unknown."""
        return FREE if self.asked is None else TokenUsage()

    def put(self, question: JudgeQuestion) -> int:
        self._questions.append(question)
        return len(self._questions) - 1

    def job(self, instructions: str, deadline_utc_s: float, *, redacted: bool) -> VisionJob:
        view, asked = self.picture, self._questions
        return VisionJob(
            "",
            "",
            view.jpeg,
            view.width,
            view.height,
            view.view_width,
            view.view_height,
            tuple(JobQuestion(one.criteria, one.elapsed_s, one.timeout_s) for one in asked),
            deadline_utc_s,
            "",
            instructions,
            redacted,
        )

    def mark_sent(self, client: JobClient, job: OpenJob) -> None:
        self._job_client, self.asked = client, job
        if not self._sent.done():
            self._sent.set_result(job)
        self._let_go()

    def fail(self, fault: AcudError) -> None:
        if not self._sent.done():
            self._sent.set_exception(fault)
            self._sent.exception()  # when all callers have left, nothing reads it

    async def answer(self, number: int) -> VisionAnswer:
        asked = await asyncio.shield(self._sent)
        return await asyncio.shield(asked.answers[number])

    def drop_caller(self, number: int) -> None:
        """Note that the caller of question `number` waits no more; without any caller the job is withdrawn."""
        self._gone.add(number)
        self._let_go()

    def _let_go(self) -> None:
        if self._job_client is not None and self.asked is not None and len(self._gone) == len(self._questions):
            self._job_client.forget(self.asked)


def _check_heard(answer: VisionAnswer) -> VisionAnswer:
    """Return a valid answer. Raises: CallFailed for a worker whose own models did not answer."""
    if answer.verdict.code in CONTINUES:
        usage = TokenUsage(answer.tokens_in, answer.tokens_out, answer.cost_usd)
        raise CallFailed(answer.verdict.code, f"worker {answer.worker}: {answer.verdict.detail}", usage=usage)
    return answer


def _describe_workers(workers: int) -> str:
    return "no worker" if not workers else f"{workers} places of workers are there"
