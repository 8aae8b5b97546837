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


JOBS, WRITES, LEASES = "jobs stream", "writes of waits", "leases"
ENDPOINT, LISTS = "one endpoint: requests", "one endpoint: its list of hosts"
NETWORK, ROOM = "network of the jobs' leader", "room for a week"
WORKERS, CPU, MEMORY = "workers' places", "a host's CPU", "a host's memory"
CURES = {
    JOBS: "split the fleet by [fleet] prefix: each part has a stream and a leader",
    WRITES: "split the fleet by [fleet] prefix", LEASES: "a longer [fleet] lease_s, then split by prefix",
    ENDPOINT: "acud fleet serve --processes; an endpoint on each machine of agents",
    LISTS: "split the fleet by [fleet] prefix: each endpoint lists one part",
    NETWORK: "split by prefix; judge locally first",
    ROOM: "raise [fleet] max_gb; until then the oldest events go earlier", WORKERS: "more workers",
    CPU: "fewer displays a host", MEMORY: "fewer displays a host",
}  # fmt: skip
"""The parts that may saturate, and what to do about each."""


class Point(NamedTuple):
    """A fleet of one size: `loads` by part (1: all that it can do), seconds until a verdict, US dollars an hour; GB on
    all servers together that a week's waits would take (`week_gb`), and do take within `[fleet] max_gb` (`kept_gb`).
    """

    hosts: int
    displays: int
    workers: int
    jobs_per_s: float
    p50_s: float
    p99_s: float
    loads: dict[str, float]
    traffic_mb_s: float
    week_gb: float
    kept_gb: float
    model_usd_h: float
    machines_usd_h: float

    @property
    def first(self) -> str:
        """The part of the whole fleet with the highest load; hosts and workers grow with it."""
        return max((part for part in self.loads if part not in (WORKERS, CPU, MEMORY)), key=self.loads.__getitem__)


def simulate(
    hosts: int, workers: int, measured: Measured, work: Work, *, seconds: float = 60.0, seed: int = 1
) -> Point:
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
    ordered = sorted(jobs.latencies)
    traffic_mb_s = rate * sent_kb(measured, work) / 1000
    loads = {
        JOBS: jobs.queue.load(seconds),
        WORKERS: jobs.places.load(seconds),
        NETWORK: traffic_mb_s / work.network_mb_s,
        **_loads_of_waits(hosts, measured, work),
        **_loads_of_a_host(rate / hosts, measured, work),
    }
    return Point(
        hosts,
        displays,
        workers,
        rate,
        ordered[len(ordered) // 2],
        ordered[int(len(ordered) * 0.99)],
        loads,
        traffic_mb_s,
        week_gb(hosts, measured, work),
        week_gb(hosts, measured, work) / max(1.0, loads[ROOM]),
        rate * 3600 * work.waits_per_display * _call_usd(work),
        hosts * work.usd_per_host_hour + workers * work.usd_per_worker_hour,
    )


def sent_kb(measured: Measured, work: Work) -> float:
    """Return what the leader of the jobs sends for one: to each of the others that keep a copy, and to a worker."""
    return measured.job_kb * work.copies


def waits_per_s(hosts: int, work: Work) -> float:
    return hosts * work.displays_per_host * work.waits_per_display / work.wait_lasts_s


def week_gb(hosts: int, measured: Measured, work: Work) -> float:
    """Return what a week's waits would take on the disks of all servers together, every copy counted."""
    return _waits_a_week(hosts, work) * measured.disk_bytes_per_wait * work.copies / 1e9


def _waits_a_week(hosts: int, work: Work) -> float:
    return waits_per_s(hosts, work) * 7 * 86_400


def _loads_of_waits(hosts: int, measured: Measured, work: Work) -> dict[str, float]:
    waits = waits_per_s(hosts, work)
    asked = waits * work.wait_lasts_s / work.poll_s
    return {
        WRITES: waits * measured.writes_per_wait / measured.writes_per_s,
        LEASES: hosts * measured.lease_writes_per_s / measured.writes_per_s,
        ENDPOINT: (waits * measured.endpoint_wait_ms + asked * measured.endpoint_result_ms) / 1000,
        LISTS: hosts * measured.endpoint_host_ms_per_s / 1000,
        ROOM: _waits_a_week(hosts, work) * measured.bytes_per_wait / 1e9 / work.max_gb,
    }


def _loads_of_a_host(judged_per_s: float, measured: Measured, work: Work) -> dict[str, float]:
    frames = work.displays_per_host * work.active * work.fps
    spent_s = (frames * measured.frame_cpu_ms + judged_per_s * measured.judged_cpu_ms) / 1000
    return {
        CPU: spent_s / work.cores_per_host,
        MEMORY: work.displays_per_host * measured.display_mb / 1000 / work.memory_gb_per_host,
    }


def workers_for(hosts: int, work: Work, load: float = 0.7) -> int:
    a_display = work.active / (work.min_interval_s + 1 / work.fps / 2) + (1 - work.active) / work.floor_s
    mean_s = work.model_median_s * math.exp(work.model_sigma**2 / 2)
    return max(1, math.ceil(hosts * work.displays_per_host * a_display * mean_s / load / work.places_per_worker))


def _call_usd(work: Work) -> float:
    return (work.tokens_in * work.usd_per_million_in + work.tokens_out * work.usd_per_million_out) / 1e6
