"""Many displays on one host: what a frame costs as displays and waits grow, and what a quiet display feels of it.

Each display has four waits and is painted at 2 to 10 frames a second by one process. `cpu_ms_per_frame` is CPU time of
all processes of a kind over the frames that capture published, read with nanoseconds from the scheduler: other load on
the machine makes it larger, but much less so than latencies. `quiet_wait_p95_ms`: from a repaint on a display where
nothing else happens to the resolved event at a client, alone and while 15 neighbours play. See docs/scaling.md.

ACUD_BENCH_DISPLAYS=1,4,16 measures fewer points.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from typing import Any

from acud.types import Criteria, Policy, Stable
from tests.bench import _many_peers, _many_quiet
from tests.bench._many_cost import by_kind, cpu_by_kind, slope
from tests.bench._many_displays import SETTINGS, Condition, ManyPainter, arm, create
from tests.bench._process import rss_mb
from tests.daemon import Daemon

_COUNTS = tuple(int(n) for n in os.environ.get("ACUD_BENCH_DISPLAYS", "1,4,16,32,64").split(","))
_RATES = (2.0, 5.0, 10.0)
_WAITS_ON_ONE_VIEW = (1, 8, 32)
_SETTLE_S = 3.0
_WATCH_S = 8.0


def run() -> dict[str, Any]:
    """Return the figures; see docs/benchmarks.md."""
    points = [_point(count) for count in _COUNTS]
    by_waits = {"watching": _waits(_watched), "judged": _waits(_judged)}
    return {
        "machine": f"{os.cpu_count()} cores {platform.machine()}",
        "commit": _commit(),
        "load": round(os.getloadavg()[0], 1),
        "points": points,
        "cpu_ms_per_frame_and_display": round(
            slope([(p["displays"], p["cpu_ms_per_frame"]["all"]) for p in points]), 5
        ),
        "waits": by_waits,
        "supervisor_us_per_frame_and_wait": round(
            1000 * slope([(row["waits"], row["supervisor_ms_per_frame"]) for row in by_waits["watching"]]), 2
        ),
        **_many_quiet.run(),
        **_starts(),
        "peers": _many_peers.run(),
    }


def _commit() -> str:
    said = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


def _point(count: int) -> dict[str, Any]:
    with Daemon(settings=SETTINGS) as daemon:
        displays, _, _ = create(daemon, count)
        with ManyPainter(daemon, displays) as painter:
            arm(daemon, displays)
            painter.paint({display.name: _RATES[n % len(_RATES)] for n, display in enumerate(displays)})
            figures = _watch(daemon, painter)
        kinds = by_kind(daemon.pid)
        figures["rss_mb_per_display"] = round(rss_mb(kinds["capture"] + kinds["Xvfb"]) / count, 1)
    return {"displays": count, **figures}


def _watch(daemon: Daemon, painter: ManyPainter) -> dict[str, Any]:
    time.sleep(_SETTLE_S)
    kinds = by_kind(daemon.pid)
    painter.tell()
    before, began_s = cpu_by_kind(kinds), time.monotonic()
    time.sleep(_WATCH_S)
    said, after = painter.tell(), cpu_by_kind(kinds)
    seconds = time.monotonic() - began_s
    used = {kind: after[kind] - before[kind] for kind in kinds}
    frames = max(1, said["frames"])
    latencies = sorted(said["latencies_ms"]) or [0.0]
    return {
        "offered_fps": round(said["painted"] / said["seconds"], 1),
        "captured_fps": round(said["frames"] / said["seconds"], 1),
        "notice_p50_ms": round(statistics.median(latencies), 2),
        "notice_p99_ms": round(latencies[int(len(latencies) * 0.99)], 2),
        "cpu_ms_per_frame": {
            "all": round(1000 * sum(used.values()) / frames, 3),
            **{kind: round(1000 * value / frames, 3) for kind, value in used.items()},
        },
        "cpu_pct": {kind: round(100 * value / seconds, 1) for kind, value in used.items()},
        "painter_pct": round(100 * said["cpu_s"] / seconds, 1),
        "load": round(os.getloadavg()[0], 1),
    }


def _watched(number: int) -> Condition:
    """Return a wait that looks at every frame and has a judge asked once an hour: what frames alone cost."""
    seldom = Policy(interval_s=3600.0, min_interval_s=3600.0, force_after_s=3600.0)
    return (Criteria(f"lamp {number} is green") if number % 2 else Stable(3600.0 + number), "screen", seldom)


def _judged(number: int) -> Condition:
    """Return a wait as it comes, each asking something else: every one is judged once or twice a second."""
    return (Criteria(f"lamp {number} is green"), "screen", Policy())


def _waits(condition: Callable[[int], Condition]) -> list[dict[str, Any]]:
    """Return what the supervisor uses for a frame with more and more waits that look at the same pixels."""
    rows = []
    with Daemon(settings=SETTINGS) as daemon:
        displays, _, _ = create(daemon, 2)
        with ManyPainter(daemon, displays) as painter:
            armed = 0
            for count in _WAITS_ON_ONE_VIEW:
                arm(daemon, displays, tuple(condition(n) for n in range(armed, count)))
                armed = count
                painter.paint({display.name: 10.0 for display in displays})
                figures = _watch(daemon, painter)
                painter.paint({display.name: 0.0 for display in displays})
                cpu = figures["cpu_ms_per_frame"]
                rows.append({"waits": count, "supervisor_ms_per_frame": cpu["supervisor"], "load": figures["load"]})
    return rows


def _starts() -> dict[str, Any]:
    with Daemon(settings=SETTINGS) as daemon:
        ones = [create(daemon, 1)[2] for _ in range(3)]
        _, _, all_ms = create(daemon, 32)
    return {"start_one_ms": round(statistics.median(ones)), "start_32_parallel_ms": round(all_ms)}


def table(figures: dict[str, Any]) -> str:
    """Return the figures for a person."""
    lines = [f"{figures['machine']}, commit {figures['commit']}, load {figures['load']}"]
    lines += [
        "displays  offered  captured fps  notice p50/p99 ms  CPU ms/frame (Xvfb capture supervisor evaluator)  MB"
    ]
    lines += [_line(point) for point in figures["points"]]
    lines += [
        f"{row['waits']:3} waits on one view, {kind}: supervisor {row['supervisor_ms_per_frame']:.3f} ms a frame"
        for kind, rows in figures["waits"].items()
        for row in rows
    ]
    told = ("points", "waits", "peers", "machine", "commit", "load")
    lines += [f"{name}: {value}" for name, value in figures.items() if name not in told]
    lines += [str(row) for row in figures["peers"]]
    return "\n".join(lines)


def _line(point: dict[str, Any]) -> str:
    cpu = point["cpu_ms_per_frame"]
    return (
        f"{point['displays']:8} {point['offered_fps']:8} {point['captured_fps']:13} "
        f"{point['notice_p50_ms']:8} / {point['notice_p99_ms']:7} {cpu['all']:8} "
        f"({cpu['Xvfb']} {cpu['capture']} {cpu['supervisor']} {cpu['evaluator']}) {point['rss_mb_per_display']:8}"
    )
