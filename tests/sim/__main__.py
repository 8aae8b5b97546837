"""`scripts/simulate`: fleets of 1 to 1,000 hosts on paper. `--measure` anew, `--validate` against a real small run."""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path

import msgspec

from tests.sim.chart import chart
from tests.sim.figures import Measured, Work
from tests.sim.model import Point, simulate, workers_for
from tests.sim.real import compare, measure

_HERE = Path(__file__).parent
FIGURES = _HERE / "figures.json"
PLOT = _HERE.parents[1] / "docs" / "scaling-simulated.svg"
SIZES = (1, 3, 10, 30, 100, 300, 1000)


def main() -> None:
    """Print what was asked for."""
    asked = argparse.ArgumentParser(prog="scripts/simulate", description=__doc__)
    asked.add_argument("--measure", action="store_true", help="measure this machine, and keep the figures")
    asked.add_argument("--validate", action="store_true", help="hold the model against three real hosts")
    asked.add_argument("--plot", action="store_true", help="draw docs/scaling-simulated.svg anew")
    asked.add_argument("--json", action="store_true", help="one JSON object on one line")
    given = asked.parse_args()
    if given.measure:
        FIGURES.write_bytes(msgspec.json.format(msgspec.json.encode(asyncio.run(measure()))) + b"\n")
    if given.validate:
        _validate()
        return
    measured, work = msgspec.json.decode(FIGURES.read_bytes(), type=Measured), Work()
    points = [simulate(hosts, workers_for(hosts, work), measured, work) for hosts in SIZES]
    if given.plot:
        PLOT.write_text(_plot(points), encoding="utf-8")
    if given.json:
        print(json.dumps({"measured": msgspec.to_builtins(measured), "points": [one._asdict() for one in points]}))
    else:
        _print(points, measured)


def _plot(points: list[Point]) -> str:
    lines = {
        "hosts, redacting": [one.host_load_redacted for one in points],
        "workers' places": [one.workers_load for one in points],
        "jobs stream": [one.jobs_load for one in points],
        "events stream": [one.events_load for one in points],
        "hosts": [one.host_load for one in points],
        "wakes stream": [one.wakes_load for one in points],
    }
    return chart([one.hosts for one in points], lines)


def _print(points: list[Point], measured: Measured) -> None:
    heads = ("hosts", "displays", "workers", "jobs/s", "p50 / p99 s", "jobs", "events", "wakes", "host / redacting")
    heads += ("MB/s", "model $/h", "machines $/h")
    print(f"measured: {measured}\n")
    print("| " + " | ".join(heads) + " |")
    print("|--:" * len(heads) + "|")
    for one in points:
        cells = (
            one.hosts,
            one.displays,
            one.workers,
            f"{one.jobs_per_s:.0f}",
            f"{one.p50_s:.2f} / {one.p99_s:.2f}",
            f"{one.jobs_load:.2f}",
            f"{one.events_load:.3f}",
            f"{one.wakes_load:.3f}",
            f"{one.host_load:.3f} / {one.host_load_redacted:.2f}",
            f"{one.traffic_mb_s:.1f}",
            f"{one.model_usd_h:.2f}",
            f"{one.machines_usd_h:.2f}",
        )
        print("| " + " | ".join(map(str, cells)) + " |")


def _validate() -> None:
    print("| load | jobs | mean s, real / told | p95 s, real / told | error |\n|--:|--:|--:|--:|--:|")
    for load in (0.4, 0.7, 0.9):
        one = asyncio.run(compare(30, load=load))
        mean, p95 = f"{one.real_mean:.3f} / {one.told_mean:.3f}", f"{one.real_p95:.3f} / {one.told_p95:.3f}"
        print(f"| {load} | {one.jobs} | {mean} | {p95} | {one.error:.0%} |")


if __name__ == "__main__":
    main()
