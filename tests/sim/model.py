"""The simulation itself: displays fall due, jobs pass the queue's server, wait for a place, ask a model, come back.

A station serves in the order of arrival. What happens is kept in one heap by time, so that everything is seen in the
order in which it happens; nothing of it reads a clock, and a seed says everything.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Iterable
from typing import NamedTuple

from tests.sim.figures import Measured, Work


class Station:
    """`servers` that each take one thing at a time, first come first served."""

    def __init__(self, servers: int) -> None:
        self._free = [0.0] * servers
        self._servers = servers
        self.busy_s = 0.0
        self.served = 0

    def enter(self, now: float, service_s: float) -> float:
        """Return when what comes `now` is done."""
        begins = max(now, self._free[0])
        heapq.heapreplace(self._free, begins + service_s)
        self.busy_s += service_s
        self.served += 1
        return begins + service_s

    def load(self, seconds: float) -> float:
        """Return what part of its time it was wanted; over 1, its queue only grows."""
        return self.busy_s / (self._servers * seconds)


class Jobs(NamedTuple):
    """How the jobs of a run fared: seconds from due to verdict, in the order of their ends."""

    latencies: list[float]
    queue: Station
    places: Station


def run_jobs(
    due: Iterable[float], queue_s: float, service: Callable[[], float], places: int, overhead_s: float = 0.0
) -> Jobs:
    """Return how jobs that fall due at those times (in order) fare."""
    queue, workers = Station(1), Station(places)
    latencies = []
    for at in due:
        taken = queue.enter(at, queue_s)
        latencies.append(workers.enter(taken, service()) + overhead_s - at)
    return Jobs(latencies, queue, workers)


def due_times(displays: int, seconds: float, work: Work, rng: random.Random) -> list[float]:
    """Return when views of `displays` fall due for a judgement, sorted: busy ones by interval, others by floor."""
    upcoming: list[tuple[float, float]] = []
    for _ in range(displays):
        every = work.min_interval_s + 1 / work.fps / 2 if rng.random() < work.active else work.floor_s
        upcoming.append((rng.random() * every, every))
    heapq.heapify(upcoming)
    found = []
    while upcoming[0][0] < seconds:
        at, every = upcoming[0]
        found.append(at)
        # No two displays keep step for ever: what is repainted when, and what a grab waits for, differs each time.
        heapq.heapreplace(upcoming, (at + every * rng.uniform(0.95, 1.05), every))
    return found


class Point(NamedTuple):
    """A fleet of one size: loads (1: all that a part can do), seconds until a verdict, US dollars an hour."""

    hosts: int
    displays: int
    workers: int
    jobs_per_s: float
    p50_s: float
    p99_s: float
    jobs_load: float
    events_load: float
    wakes_load: float
    workers_load: float
    host_load: float
    host_load_redacted: float
    traffic_mb_s: float
    model_usd_h: float
    machines_usd_h: float


def simulate(
    hosts: int, workers: int, measured: Measured, work: Work, *, seconds: float = 60.0, seed: int = 1
) -> Point:
    """Return how a fleet of `hosts` with so many `workers` does."""
    rng = random.Random(seed)
    displays = hosts * work.displays_per_host
    due = due_times(displays, seconds, work, rng)
    median = math.log(work.model_median_s)
    jobs = run_jobs(
        due,
        1 / measured.jobs_per_s,
        lambda: rng.lognormvariate(median, work.model_sigma),
        workers * work.places_per_worker,
        measured.job_overhead_ms / 1000,
    )
    rate = len(due) / seconds
    ended = displays * work.waits_per_display / work.wait_lasts_s
    ordered = sorted(jobs.latencies)
    frames = displays * work.active * work.fps / hosts
    plain = (frames * measured.frame_cpu_ms + rate / hosts * measured.judged_cpu_ms) / 1000 / work.cores_per_host
    return Point(
        hosts,
        displays,
        workers,
        rate,
        ordered[len(ordered) // 2],
        ordered[int(len(ordered) * 0.99)],
        jobs.queue.load(seconds),
        ended * work.events_per_wait / measured.events_per_s,
        ended / measured.wakes_per_s,
        jobs.places.load(seconds),
        plain,
        plain + rate / hosts * measured.redact_cpu_ms / 1000 / work.cores_per_host,
        rate * measured.job_kb * 2 / 1000,
        rate * 3600 * work.waits_per_display * _call_usd(work),
        hosts * work.usd_per_host_hour + workers * work.usd_per_worker_hour,
    )


def workers_for(hosts: int, work: Work, load: float = 0.7) -> int:
    """Return how many workers keep their places at `load`."""
    a_display = work.active / (work.min_interval_s + 1 / work.fps / 2) + (1 - work.active) / work.floor_s
    mean_s = work.model_median_s * math.exp(work.model_sigma**2 / 2)
    return max(1, math.ceil(hosts * work.displays_per_host * a_display * mean_s / load / work.places_per_worker))


def _call_usd(work: Work) -> float:
    return (work.tokens_in * work.usd_per_million_in + work.tokens_out * work.usd_per_million_out) / 1e6
