"""What is measured on a real NATS server, and the small real run that the model is held against."""

from __future__ import annotations

import asyncio
import os
import platform
import random
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from nats.js import JetStreamContext
from nats.js.api import StreamConfig

from acud.evaluator.judges.judge import JudgeQuestion
from acud.features.fleet.evaluator import FleetJudge
from acud.types import Answer
from tests.bench import displays
from tests.bench._many_cost import cpu_s
from tests.fixtures.fleet_servers import FleetServers
from tests.integration.jobs_rig import Worker, connected, host, noise, picture
from tests.sim import disk
from tests.sim.figures import Measured
from tests.sim.job_flow import JobFlow, job_flow
from tests.sim.model import run_jobs
from tests.sim.small_fleet import small_fleet

EVENT_B = 350
_PUBLISHERS = 64
_COUNT, _ROUNDS = 2000, 5
_ALONE = 60
_WAITS = 40
_PAPER_HOSTS = 60
_DISPLAYS = 16


def measure() -> Measured:
    queue = asyncio.run(_queue())
    stored = disk.bytes_of_a_wait(signed=True)
    with small_fleet() as fleet:
        leases = fleet.lease_writes_per_s()
        wait = fleet.per_wait(_WAITS, leases)
        results = fleet.results()
        idle, listing = fleet.list_share(0), fleet.list_share(_PAPER_HOSTS)
    host_figures = displays.at(_DISPLAYS)
    return Measured(
        machine=f"{os.cpu_count()} cores {platform.machine()}, load {os.getloadavg()[0]:.0f}, {_server()}",
        date=time.strftime("%Y-%m-%d"),
        **queue,
        writes_per_wait=round(wait.writes, 2),
        bytes_per_wait=round(stored.held),
        disk_bytes_per_wait=round(stored.disk),
        lease_writes_per_s=round(leases, 2),
        endpoint_wait_ms=round(wait.endpoint_ms, 2),
        endpoint_result_ms=round(results.endpoint_ms, 3),
        endpoint_host_ms_per_s=round(max(0.0, listing - idle) * 1000 / _PAPER_HOSTS, 3),
        request_cpu_ms=round(results.cpu_ms, 3),
        frame_cpu_ms=host_figures["cpu_ms_per_frame"]["all"],
        display_mb=host_figures["rss_mb_per_display"],
    )


def _server() -> str:
    said = subprocess.run(["nats-server", "--version"], capture_output=True, text=True, check=True)
    return said.stdout.strip().replace(": v", " ")


class Rate(NamedTuple):
    """Messages a second; the CPU of all processes for one, and what these had of the machine's cores meanwhile."""

    per_s: float
    cpu_ms: float
    cores: float


async def _queue() -> dict[str, float]:
    """Return what three servers that keep three copies take, and what a job costs who asks it."""
    shot = noise(120)
    writes, jobs = await written(), await jobs_taken()
    with FleetServers(3) as one, tempfile.TemporaryDirectory() as folder, Worker(Path(folder), one.url, {}) as worker:
        async with host(one.url) as judge:
            await worker.ready()
            began = time.process_time()
            overhead = await _alone(judge)
            asked_ms = (time.process_time() - began) * 1000 / _ALONE
    return {
        "writes_per_s": round(writes.per_s), "write_cpu_ms": round(writes.cpu_ms, 3), "jobs_per_s": round(jobs.per_s),
        "job_cpu_ms": round(jobs.cpu_ms, 3), "job_overhead_ms": round(overhead * 1000, 2),
        "job_kb": round(len(shot.jpeg) / 1000, 1), "judged_cpu_ms": round(asked_ms, 2),
    }  # fmt: skip


async def jobs_taken() -> JobFlow:
    """Return how many jobs three servers take that keep three copies."""
    return await job_flow(noise(120).jpeg, _ROUNDS)


async def written() -> Rate:
    """Return how many small messages three servers take that keep three copies."""
    with FleetServers(3) as servers:
        async with connected(servers.url) as connection:
            streams = connection.streams
            config = StreamConfig(name="SIM", subjects=["sim.>"], duplicate_window=120, num_replicas=3)
            await streams.add_stream(config)
            pids = [os.getpid(), *(server.process.pid for server in servers.servers if server.process is not None)]
            rounds = [await _rate(streams, pids) for _ in range(_ROUNDS)]
    return max(rounds)  # others on the machine only slow it


async def _rate(streams: JetStreamContext, pids: list[int]) -> Rate:
    """Have messages stored, each acknowledged, by as many publishers as a small fleet has. `pids`: who works at it."""
    body, left, spent_s, started = b"x" * EVENT_B, iter(range(_COUNT)), cpu_s(pids), time.perf_counter()

    async def publisher() -> None:
        for number in left:
            await streams.publish("sim.x", body, headers={"Nats-Msg-Id": f"{started}-{number}"})

    await asyncio.gather(*(publisher() for _ in range(_PUBLISHERS)))
    seconds, spent_s = time.perf_counter() - started, cpu_s(pids) - spent_s
    return Rate(_COUNT / seconds, spent_s * 1000 / _COUNT, spent_s / seconds)


async def _alone(judge: FleetJudge) -> float:
    """Return the median seconds of a job that waits for nothing, by a judge that answers at once."""
    spent = []
    for number in range(_ALONE):
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
        return max(abs(self.told_mean / self.real_mean - 1), abs(self.told_p95 / self.real_p95 - 1))


async def compare(seconds: float, *, load: float, delay_s: float = 0.25, seed: int = 1) -> Compared:
    """Run three hosts and two workers of four places each, by a model that takes `delay_s`, and the same on paper."""
    places = 8
    due = _poisson(seconds, load * places / delay_s, random.Random(seed))
    with FleetServers(3) as server, tempfile.TemporaryDirectory() as folder:
        url, script = server.url, {"delay_ms": delay_s * 1000}
        with Worker(Path(folder, "a"), url, script) as a, Worker(Path(folder, "b"), url, script) as b:
            async with host(url) as one, host(url) as two, host(url) as three:
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
