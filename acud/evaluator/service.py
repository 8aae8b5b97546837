"""The evaluator's conversation with the supervisor: hello, health, jobs in, results out, heartbeats all the while."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import NamedTuple

from acud.base import log
from acud.evaluator.context import EvaluatorContext
from acud.evaluator.job import find_readers, run_job
from acud.evaluator.memory import MemoryTrim
from acud.process import child_process
from acud.process.async_child import AsyncChild
from acud.protocol.children import Heartbeat, Stop
from acud.protocol.evaluation import EvaluatorHello, Job, JobResult, WaitsOver
from acud.protocol.widgets import WidgetMessage

Incoming = Job | WaitsOver | WidgetMessage | Stop


class _RunningJob(NamedTuple):
    """A job under way. `left`: the waits that it only reads text for, and that have not ended; None for other work."""

    task: asyncio.Task[None]
    left: set[str] | None


class EvaluatorService:
    """Runs jobs side by side until stopped. `health_interval_s`: how often it asks for the judges' health."""

    def __init__(
        self,
        child: AsyncChild[Incoming],
        context: EvaluatorContext,
        *,
        owns_ocr: bool,
        max_jobs: int,
        health_interval_s: float,
    ) -> None:
        self._child, self._context, self._owns_ocr, self._max_jobs = child, context, owns_ocr, max_jobs
        self._health_interval_s = health_interval_s
        self._jobs: dict[str, _RunningJob] = {}
        self._over: dict[str, set[str]] = {}
        """By job under way: waits that ended meanwhile, of which it may still remember something."""
        self._memory = MemoryTrim(time.monotonic)
        self._log = log.logger("evaluator")

    async def run(self) -> None:
        """Serve until `Stop` or SIGTERM; jobs in progress are dropped then (the supervisor gives them to another). An
        unexpected fault ends the process: the supervisor restarts it, with backoff and a limit.
        """
        async with asyncio.TaskGroup() as group:
            receiving = group.create_task(self._handle_messages(group))
            lasting = [group.create_task(it) for it in (self._child.send_beats(self._make_beat), self._watch_health())]
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, receiving.cancel)
            await asyncio.wait([receiving])
            self._context.widgets.close()
            for task in (*lasting, *(running.task for running in self._jobs.values())):
                task.cancel()

    async def _handle_messages(self, group: asyncio.TaskGroup) -> None:
        await self._child.send(EvaluatorHello(os.getpid(), self._owns_ocr))
        async for message in self._child.messages():
            match message:
                case Job():
                    await self._begin_job(message, group)
                case WaitsOver():
                    await self._forget_waits(message.wait_ids)
                case Stop():
                    return
                case _:
                    self._context.widgets.handle_message(message, group, self._child.send)

    async def _begin_job(self, job: Job, group: asyncio.TaskGroup) -> None:
        if job.job_id in self._jobs:
            self._log.warning("job.repeated", job=job.job_id)
        elif len(self._jobs) >= self._max_jobs:
            await self._child.send(JobResult(job.job_id, "failed", reason=f"already at {self._max_jobs} jobs"))
        else:
            task = group.create_task(self._run_job(job))
            self._jobs[job.job_id] = _RunningJob(task, find_readers(job))
            task.add_done_callback(lambda _: self._on_job_ended(job.job_id))

    async def _run_job(self, job: Job) -> None:
        with self._context.counters.measure("job"):
            result = await run_job(job, self._context, self._child.send)
        await self._child.send(result)

    def _on_job_ended(self, job_id: str) -> None:
        del self._jobs[job_id]
        self._memory.note_work()
        self._context.forget(self._over.pop(job_id, ()))

    async def _forget_waits(self, wait_ids: tuple[str, ...]) -> None:
        """Forget waits that ended, and drop jobs that only read for them. A paid call of a model is not dropped."""
        self._context.forget(wait_ids)
        for job_id, running in list(self._jobs.items()):
            self._over.setdefault(job_id, set()).update(wait_ids)
            if running.left:
                running.left.difference_update(wait_ids)
                if not running.left and running.task.cancel():
                    await self._child.send(JobResult(job_id, "dropped", reason="all its waits ended"))

    def _make_beat(self) -> Heartbeat:
        self._context.rings.free_unneeded()
        if self._context.release_idle_engine():
            self._memory.note_work()
        self._memory.trim_if_due(busy=bool(self._jobs))
        return Heartbeat(
            jobs=tuple(self._jobs), rss_mb=child_process.rss_mb(), counters=self._context.counters.snapshot()
        )

    async def _watch_health(self) -> None:
        while True:
            news = await self._context.judges.check_health()
            if news is not None:
                await self._child.send(news)
            await self._context.judges.wait_for_doubt(self._health_interval_s)
