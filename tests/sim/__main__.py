"""`scripts/simulate`: fleets of 10 to 10,000 hosts on paper. `--measure`, `--validate` against a small real fleet."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tests.sim.chart import chart
from tests.sim.disk import bytes_of_a_wait
from tests.sim.figures import Measured, Work
from tests.sim.model import CPU, CURES, MEMORY, WORKERS, Point, sent_kb, simulate, workers_for
from tests.sim.real import compare, jobs_taken, measure, written
from tests.sim.small_fleet import small_fleet

_HERE = Path(__file__).parent
FIGURES = _HERE / "figures.json"
PLOT = _HERE.parents[1] / "docs" / "scaling-simulated.svg"
SIZES = (10, 30, 100, 300, 1000, 3000, 10_000)
_HOST_SECONDS = 60_000.0
"""What is simulated of each size: a minute of a thousand hosts, less of more."""


def main() -> None:
    asked = argparse.ArgumentParser(prog="scripts/simulate", description=__doc__)
    asked.add_argument("--measure", action="store_true", help="measure this machine, and keep the figures")
    asked.add_argument("--validate", action="store_true", help="hold the model against a real small fleet")
    asked.add_argument("--plot", action="store_true", help="draw docs/scaling-simulated.svg anew")
    asked.add_argument("--json", action="store_true", help="one JSON object on one line")
    given = asked.parse_args()
    if given.measure:
        FIGURES.write_bytes(msgspec.json.format(msgspec.json.encode(measure())) + b"\n")
    measured, work = msgspec.json.decode(FIGURES.read_bytes(), type=Measured), Work()
    if given.validate:
        _validate(measured)
        return
    points = [of_size(hosts, measured, work) for hosts in SIZES]
    if given.plot:
        PLOT.write_text(chart(SIZES, [point.loads for point in points], CURES), encoding="utf-8")
    if given.json:
        print(json.dumps({"measured": msgspec.to_builtins(measured), "points": [one._asdict() for one in points]}))
    else:
        _print(points, measured)


def of_size(hosts: int, measured: Measured, work: Work) -> Point:
    seconds = min(60.0, _HOST_SECONDS / hosts)
    return simulate(hosts, workers_for(hosts, work), measured, work, seconds=seconds)


def _print(points: list[Point], measured: Measured) -> None:
    print(f"measured: {measured}\n")
    parts = [part for part in CURES if part not in (WORKERS, CPU, MEMORY)]
    _row("hosts", "displays", "jobs/s", "p50 / p99 s", *parts, "GB a week / kept", "model $/h", "machines $/h")
    print("|--:" * (len(parts) + 7) + "|")
    for one in points:
        loads = [f"{one.loads[part]:.3f}" for part in parts]
        verdict = f"{one.p50_s:.2f} / {one.p99_s:.2f}"
        costs = f"{one.week_gb:.0f} / {one.kept_gb:.0f}", f"{one.model_usd_h:.0f}", f"{one.machines_usd_h:.0f}"
        _row(one.hosts, one.displays, f"{one.jobs_per_s:.0f}", verdict, *loads, *costs)
    print(f"\nEach host: {CPU} {points[0].loads[CPU]:.3f}, {MEMORY} {points[0].loads[MEMORY]:.3f}.\n")
    for part in sorted(parts, key=lambda part: -points[-1].loads[part]):
        at = points[-1].hosts / points[-1].loads[part]
        print(f"{part}: all used at {at:,.0f} hosts. {CURES[part]}.")


def _row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |")


def _validate(measured: Measured) -> None:
    """Print model against real for each limit that a machine of a few cores can be brought near."""
    _row("limit", "model", "real", "real / model")
    print("|---|--:|--:|--:|")
    for what, told, real in _compared(measured):
        _row(what, f"{told:.4g}", f"{real:.4g}", f"{real / told:.2f}")


def _compared(measured: Measured) -> Iterator[tuple[str, float, float]]:
    for load in (0.4, 0.7, 0.9):
        one = asyncio.run(compare(20, load=load))
        yield f"seconds until a verdict, mean, workers' places at {load}", one.told_mean, one.real_mean
        yield f"the same, 95th percentile of {one.jobs} jobs", one.told_p95, one.real_p95
    writes = asyncio.run(written())
    told = writes.cores * 1000 / measured.write_cpu_ms
    yield f"writes a second, three copies, on the {writes.cores:.1f} cores that were left", told, writes.per_s
    flow = asyncio.run(jobs_taken())
    told = flow.cores * 1000 / measured.job_cpu_ms
    yield f"jobs a second, three copies, on the {flow.cores:.1f} cores that were left", told, flow.per_s
    yield "kB that the jobs' leader sends for one", sent_kb(measured, Work()), flow.sent_kb
    yield "bytes that a wait leaves, one copy", measured.bytes_per_wait, bytes_of_a_wait(signed=True, waits=400).held
    with small_fleet() as fleet:
        leases = fleet.lease_writes_per_s()
        yield "lease writes a second, two hosts", 2 * measured.lease_writes_per_s, 2 * leases
        wait = fleet.per_wait(80, leases)
        yield "writes of 80 waits", 80 * measured.writes_per_wait, 80 * wait.writes
        yield "endpoint's CPU for 80 waits, ms", 80 * measured.endpoint_wait_ms, 80 * wait.endpoint_ms
        results = fleet.results()
        told = results.cores * 1000 / measured.request_cpu_ms
        yield f"wait_result a second, on the {results.cores:.1f} cores that were left", told, results.per_s
        hosts, idle = 120, fleet.list_share(0)
        share = hosts * measured.endpoint_host_ms_per_s / 1000
        yield f"endpoint's share of a core for a list of {hosts} hosts", share, fleet.list_share(hosts) - idle


if __name__ == "__main__":
    main()
