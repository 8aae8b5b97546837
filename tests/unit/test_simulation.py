"""The simulation of docs/scaling-jobs.md: its stations against queueing theory, its runs against themselves."""

import json
import random

import msgspec
import pytest
from msgspec.structs import replace

from tests.sim.__main__ import FIGURES
from tests.sim.chart import chart
from tests.sim.figures import Measured, Work
from tests.sim.model import (
    CPU,
    CURES,
    ENDPOINT,
    JOBS,
    LEASES,
    LISTS,
    MEMORY,
    NETWORK,
    ROOM,
    WORKERS,
    WRITES,
    run_jobs,
    simulate,
    week_gb,
    workers_for,
)

FEW = Work(displays_per_host=4)


def read_figures() -> Measured:
    return msgspec.json.decode(FIGURES.read_bytes(), type=Measured)


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_a_station_waits_as_long_as_theory_says(load: float) -> None:
    """Poisson arrivals, one server: Pollaczek-Khinchine gives the mean wait for any times of service."""
    rng = random.Random(7)
    at, due = 0.0, []
    for _ in range(200_000):
        at += rng.expovariate(load)
        due.append(at)
    exact = run_jobs(due, 0.0, lambda: 1.0, 1).latencies
    assert sum(exact) / len(exact) == pytest.approx(1 + load / (2 * (1 - load)), rel=0.03)
    spread = run_jobs(due, 0.0, lambda: rng.expovariate(1.0), 1).latencies
    assert sum(spread) / len(spread) == pytest.approx(1 / (1 - load), rel=0.06)


def test_a_seed_says_everything_and_more_hosts_are_more_work() -> None:
    one, again, other = (simulate(3, 1, read_figures(), FEW, seconds=20, seed=seed) for seed in (1, 1, 2))
    assert one == again != other
    ten = simulate(30, 1, read_figures(), FEW, seconds=20)
    assert ten.loads[JOBS] == pytest.approx(10 * one.loads[JOBS], rel=0.2)
    assert ten.loads[WRITES] == pytest.approx(10 * one.loads[WRITES])
    assert ten.model_usd_h == pytest.approx(3600 * 4 * ten.jobs_per_s * (900 * 0.075 + 30 * 0.30) / 1e6)


SATURATING: dict[str, tuple[dict[str, float], dict[str, float]]] = {
    JOBS: ({"jobs_per_s": 1.0}, {}), NETWORK: ({"job_kb": 1e6}, {}), WRITES: ({"writes_per_wait": 1e6}, {}),
    LEASES: ({"lease_writes_per_s": 1e6}, {}), ENDPOINT: ({"endpoint_result_ms": 1e5}, {}),
    LISTS: ({"endpoint_host_ms_per_s": 1e5}, {}), ROOM: ({"bytes_per_wait": 1e9}, {}),
    WORKERS: ({}, {"places_per_worker": 1, "model_median_s": 50.0}), CPU: ({"frame_cpu_ms": 1e5}, {}),
    MEMORY: ({"display_mb": 1e6}, {}),
}  # fmt: skip


@pytest.mark.parametrize("part", CURES)
def test_every_part_can_be_what_saturates(part: str) -> None:
    """A figure that is read by nothing would saturate nothing."""
    figures, assumed = SATURATING[part]
    work = replace(FEW, **assumed)
    before = simulate(10, 1, read_figures(), FEW, seconds=20)
    after = simulate(10, 1, replace(read_figures(), **figures), work, seconds=20)
    assert before.loads[part] < after.loads[part]
    assert after.loads[part] > 1
    assert after.first == part or part in (WORKERS, CPU, MEMORY)
    assert CURES[part] in chart((10, 30), [before.loads, after.loads], CURES)


def test_every_figure_is_measured_and_counts() -> None:
    """Each figure of the file moves something that the simulation tells, but for what only `--validate` compares."""
    before = simulate(10, 1, read_figures(), FEW, seconds=20)
    names = set(Measured.__struct_fields__) - {"machine", "date", "request_cpu_ms", "write_cpu_ms", "job_cpu_ms"}
    assert set(json.loads(FIGURES.read_bytes())) == set(Measured.__struct_fields__)
    for name in names:
        assert getattr(read_figures(), name) > 0, name
        other = replace(read_figures(), **{name: 3 * getattr(read_figures(), name)})
        assert simulate(10, 1, other, FEW, seconds=20) != before, name


def test_a_week_is_counted_with_every_copy() -> None:
    figures = replace(read_figures(), bytes_per_wait=4000.0, disk_bytes_per_wait=1000.0)
    work = Work(displays_per_host=1, waits_per_display=1, wait_lasts_s=1.0, copies=3)
    assert week_gb(1, figures, work) == pytest.approx(7 * 86_400 * 1000 * 3 / 1e9)
    assert simulate(1, 1, figures, work, seconds=60).kept_gb == week_gb(1, figures, work)
    # The limit counts what is not compressed: twice the waits that it holds, and half of them are kept.
    work = replace(work, max_gb=7 * 86_400 * 4000 / 1e9 / 2)
    assert simulate(1, 1, figures, work, seconds=60).kept_gb == pytest.approx(week_gb(1, figures, work) / 2)


def test_a_hundred_hosts_keep_less_than_20_gb() -> None:
    hundred = simulate(100, workers_for(100, Work()), read_figures(), Work(), seconds=5)
    assert hundred.kept_gb <= 20
