"""What is measured on a real NATS server, and the small real run that the model is held against."""

from __future__ import annotations

import asyncio
import os
import platform
import random
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from nats.js import JetStreamContext
from nats.js.api import StreamConfig

from acud.evaluator.judges.judge import JudgeQuestion
from acud.features.fleet.evaluator import FleetJudge
from acud.types import Answer
from tests.integration.jobs_rig import Worker, connected, host, noise, picture
from tests.nats_servers import Nats
from tests.sim.figures import Measured
from tests.sim.model import run_jobs

EVENT_B, WAKE_B = 350, 900
_PUBLISHERS = 64
_COUNT, _ROUNDS = 3000, 7

FROM_BENCHMARKS = {"frame_cpu_ms": 0.75, "judged_cpu_ms": 4.5, "redact_cpu_ms": 100.0, "display_mb": 115.0}
"""docs/benchmarks.md: grab and comparison of a small change with the supervisor's share; encoding 2.2 ms, a verdict's
turn and the job's own 2 ms; one changed line or dialog read; Xvfb, capture and ring."""


async def measure() -> Measured:
    """Return the figures of this machine. Takes about 20 s."""
    with Nats() as nats, tempfile.TemporaryDirectory() as folder:
        async with connected(nats.url) as connection:
            streams = connection.streams
            await streams.add_stream(StreamConfig(name="SIM", subjects=["sim.>"], duplicate_window=120))
            shot = noise(120)
            sizes = (EVENT_B, WAKE_B, len(shot.jpeg))
            rounds = [[await _rate(streams, size, _COUNT) for size in sizes] for _ in range(_ROUNDS)]
            events, wakes, jobs = (sorted(found)[_ROUNDS // 2] for found in zip(*rounds, strict=True))
        with Worker(Path(folder), nats.url, {}) as worker:
            async with host(nats.url) as judge:
                await worker.ready()
                overhead = await _alone(judge)
    machine = f"{os.cpu_count()} cores {platform.machine()}, nats-server 2.9.10, one server, file store"
    return Measured(
        machine=machine,
        events_per_s=round(events),
        wakes_per_s=round(wakes),
        jobs_per_s=round(jobs / 3),  # a job is stored, given to a worker and acknowledged
        job_overhead_ms=round(overhead * 1000, 2),
        job_kb=round(len(shot.jpeg) / 1000, 1),
        **FROM_BENCHMARKS,
    )


async def _rate(streams: JetStreamContext, size: int, count: int) -> float:
    """Return messages a second, each acknowledged, from as many publishers as a small fleet has."""
    body, left, started = b"x" * size, iter(range(count)), time.perf_counter()

    async def publisher() -> None:
        for number in left:
            await streams.publish("sim.x", body, headers={"Nats-Msg-Id": f"{started}-{number}"})

    await asyncio.gather(*(publisher() for _ in range(_PUBLISHERS)))
    return count / (time.perf_counter() - started)


async def _alone(judge: FleetJudge) -> float:
    """Return the median seconds of a job that waits for nothing, by a judge that answers at once."""
    spent = []
    for number in range(60):
        started = time.perf_counter()
        reply = await judge.evaluate(JudgeQuestion(f"{number}"), picture(number))
        assert reply.verdict.answer is Answer.NO, reply
        spent.append(time.perf_counter() - started)
    return sorted(spent)[len(spent) // 2]


class Compared(NamedTuple):
    """Seconds from due to verdict, real and simulated, of the same due times."""

    jobs: int
    real_mean: float
    real_p95: float
    told_mean: float
    told_p95: float

    @property
    def error(self) -> float:
        """The larger of both errors, as a part of what was real."""
        return max(abs(self.told_mean / self.real_mean - 1), abs(self.told_p95 / self.real_p95 - 1))


async def compare(seconds: float, *, load: float, delay_s: float = 0.25, seed: int = 1) -> Compared:
    """Run three hosts and two workers of four places each, by a model that takes `delay_s`, and the same on paper."""
    places = 8
    due = _poisson(seconds, load * places / delay_s, random.Random(seed))
    with Nats() as nats, tempfile.TemporaryDirectory() as folder:
        script = {"delay_ms": delay_s * 1000}
        with Worker(Path(folder, "a"), nats.url, script) as a, Worker(Path(folder, "b"), nats.url, script) as b:
            async with host(nats.url) as one, host(nats.url) as two, host(nats.url) as three:
                hosts = (one, two, three)
                await a.ready()
                await b.ready()
                alone = min([await _timed(each, 0) for each in hosts for _ in range(5)]) - delay_s
                real = await _open_loop(hosts, due)
    told = run_jobs(due, 1e-4, lambda: delay_s + alone, places).latencies
    return Compared(len(due), *_figures(real), *_figures(told))


def _figures(latencies: list[float]) -> tuple[float, float]:
    return sum(latencies) / len(latencies), sorted(latencies)[int(len(latencies) * 0.95)]


def _poisson(seconds: float, rate: float, rng: random.Random) -> list[float]:
    due, at = [], rng.expovariate(rate)
    while at < seconds:
        due.append(at)
        at += rng.expovariate(rate)
    return due


async def _open_loop(hosts: tuple[FleetJudge, ...], due: list[float]) -> list[float]:
    """Ask at the times of `due`, however long answers take."""
    started = time.perf_counter()
    asked = []
    for number, at in enumerate(due):
        await asyncio.sleep(max(0.0, started + at - time.perf_counter()))
        asked.append(asyncio.create_task(_timed(hosts[number % len(hosts)], number)))
    return list(await asyncio.gather(*asked))


async def _timed(judge: FleetJudge, number: int) -> float:
    started = time.perf_counter()
    reply = await judge.evaluate(JudgeQuestion(f"{number}"), picture(number % 200))
    assert reply.verdict.answer is Answer.NO, reply
    return time.perf_counter() - started
