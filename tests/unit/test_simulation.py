"""The simulation of docs/scaling-jobs.md: its stations against queueing theory, its runs against themselves."""

from __future__ import annotations

import random

import msgspec
import pytest

from tests.sim.__main__ import FIGURES, PLOT, SIZES
from tests.sim.chart import chart
from tests.sim.figures import Measured, Work
from tests.sim.model import Station, due_times, run_jobs, simulate, workers_for

FEW = Work(displays_per_host=4)


def measured() -> Measured:
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


def test_a_station_serves_side_by_side_and_in_order() -> None:
    two = Station(2)
    assert [two.enter(at, 10.0) for at in (0.0, 1.0, 2.0)] == [10.0, 11.0, 20.0]
    assert (two.served, two.load(20.0)) == (3, 0.75)


def test_views_fall_due_as_often_as_waits_have_them_judged() -> None:
    still = Work(active=0.0, floor_s=30.0)
    due = due_times(3000, 60.0, still, random.Random(1))
    assert due == sorted(due)
    assert len(due) == pytest.approx(3000 * 2, rel=0.02)
    busy = due_times(3000, 60.0, Work(active=1.0, fps=2.0, min_interval_s=2.0), random.Random(1))
    assert len(busy) == pytest.approx(3000 * 60 / 2.25, rel=0.02)


def test_a_seed_says_everything_and_more_hosts_are_more_work() -> None:
    one, again, other = (simulate(3, 1, measured(), FEW, seconds=20, seed=seed) for seed in (1, 1, 2))
    assert one == again != other
    ten = simulate(30, 1, measured(), FEW, seconds=20)
    assert ten.jobs_load == pytest.approx(10 * one.jobs_load, rel=0.2)
    assert ten.model_usd_h == pytest.approx(3600 * 4 * ten.jobs_per_s * (900 * 0.075 + 30 * 0.30) / 1e6)


def test_too_few_places_are_a_queue_that_grows() -> None:
    small = msgspec.structs.replace(FEW, places_per_worker=2)
    enough = simulate(10, workers_for(10, small), measured(), small, seconds=60)
    assert 0.4 < enough.workers_load < 0.9
    short = simulate(10, 1, measured(), small, seconds=60)
    assert short.workers_load > 1
    assert short.p99_s > 3 * enough.p99_s


def test_the_plot_in_the_docs_is_of_these_sizes() -> None:
    text = PLOT.read_text(encoding="utf-8")
    assert all(f">{size}<" in text for size in SIZES)
    assert chart((1, 10), {"a": (0.1, 1.0)}).count("<polyline") == 1
