"""Many displays on one host: what a frame costs as displays and waits grow, and what a quiet display feels of it.

Each display has four waits and is painted at 2 to 10 frames a second by one process. `cpu_ms_per_frame` is CPU time of
all processes of a kind over the frames that capture published, read with nanoseconds from the scheduler: other load on
the machine makes it larger, but much less so than latencies. `quiet_wait_p95_ms`: from a repaint on a display where
nothing else happens to the resolved event at a client, alone and while 15 neighbours play. `cpu_ms_a_frame` and
`mb_each` (proportional set size of X servers and capture processes) are those of the last point. See docs/scaling.md.

Four to six minutes; `--quick` measures 1, 4 and 16 displays and takes fewer samples. ACUD_BENCH_DISPLAYS=1,4,16 chooses
the points. What it is at goes to standard error.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from acud.types import Criteria, DisplayInfo, Policy, Stable
from acud_client import Client
from tests.bench import _many_peers, _many_quiet
from tests.bench._many_cost import by_kind, cpu_by_kind, slope, waited_s
from tests.bench._many_displays import SETTINGS, Condition, ManyPainter, arm, create, host
from tests.bench._process import rss_mb
from tests.bench._progress import say
from tests.fixtures.daemon import Daemon

_RATES = (2.0, 5.0, 10.0)
_WAITS_ON_ONE_VIEW = (1, 8, 32)
_STARTED_AT_ONCE = 32
_UNPACED = SETTINGS + "[wait]\nlongest_pause_s = 0\n"
"""What is painted is small and goes on and on: its judgements would be paused."""


class _Size(Struct, frozen=True):
    """How much is measured: displays of each point, seconds before and during a measurement, pairs of blocks."""

    counts: tuple[int, ...]
    settle_s: float
    watch_s: float
    blocks: int
    peers: tuple[int, ...]


_FULL = _Size((1, 4, 16, 32, 64), 2.0, 6.0, 10, (1, 4, 16))
_QUICK = _Size((1, 4, 16), 1.5, 4.0, 3, (1, 4))


def run(*, quick: bool = False) -> dict[str, Any]:
    size = _QUICK if quick else _FULL
    points = _points(_counts(size), size)
    by_waits = _all_waits(size)
    return {
        "machine": f"{os.cpu_count()} cores {platform.machine()}",
        "commit": _commit(),
        "load": round(os.getloadavg()[0], 1),
        "points": points,
        "cpu_ms_a_frame": points[-1]["cpu_ms_per_frame"]["all"],
        "mb_each": points[-1]["rss_mb_per_display"],
        "cpu_ms_per_frame_and_display": round(
            slope([(p["displays"], p["cpu_ms_per_frame"]["all"]) for p in points]), 5
        ),
        "waits": by_waits,
        "supervisor_us_per_frame_and_wait": round(
            1000 * slope([(row["waits"], row["supervisor_ms_per_frame"]) for row in by_waits["watching"]]), 2
        ),
        "supervisor_us_per_judgement": _judgement_us(by_waits["judged"]),
        **_many_quiet.run(size.blocks),
        **_starts(),
        "peers": _many_peers.run(size.peers),
    }


def supervisor_us_per_judgement() -> float:
    """Return what a judgement costs the supervisor: CPU time over judgements, as more waits judge the same frames."""
    with host(_UNPACED) as daemon:
        return _judgement_us(_waits(daemon, "judged", _judged, _QUICK))


def at(count: int) -> dict[str, Any]:
    return _points((count,), replace(_QUICK, settle_s=12.0, watch_s=8.0))[-1]


def _judgement_us(rows: list[dict[str, Any]]) -> float:
    return round(1000 * slope([(row["judged_per_frame"], row["supervisor_ms_per_frame"]) for row in rows]), 1)


def _counts(size: _Size) -> tuple[int, ...]:
    chosen = os.environ.get("ACUD_BENCH_DISPLAYS", "")
    return tuple(sorted(int(n) for n in chosen.split(","))) if chosen else size.counts


def _commit() -> str:
    said = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


def _points(counts: tuple[int, ...], size: _Size) -> list[dict[str, Any]]:
    """Measure each point on one daemon that gets more and more displays: none is started twice."""
    points: list[dict[str, Any]] = []
    displays: list[DisplayInfo] = []
    with host() as daemon:
        for count in counts:
            say(f"{count} displays: starting {count - len(displays)}")
            more, _, _ = create(daemon, count - len(displays))
            displays += more
            with ManyPainter(daemon, displays) as painter:
                say(f"{count} displays: arming {4 * len(more)} waits")
                arm(daemon, more)
                painter.paint({display.name: _RATES[n % len(_RATES)] for n, display in enumerate(displays)})
                say(f"{count} displays: measuring")
                figures = _watch(daemon, painter, size)
            kinds = by_kind(daemon.pid)
            figures["rss_mb_per_display"] = round(rss_mb(kinds["capture"] + kinds["Xvfb"]) / count, 1)
            points.append({"displays": count, **figures})
            say(_line(points[-1]))
        say(f"ending {len(displays)} displays")
    return points


def _watch(daemon: Daemon, painter: ManyPainter, size: _Size) -> dict[str, Any]:
    time.sleep(size.settle_s)
    kinds = by_kind(daemon.pid)
    painter.tell()
    before, began_s, waited = cpu_by_kind(kinds), time.monotonic(), waited_s(kinds["supervisor"])
    time.sleep(size.watch_s)
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
        "supervisor_waited_pct": round(100 * (waited_s(kinds["supervisor"]) - waited) / seconds, 1),
        "load": round(os.getloadavg()[0], 1),
    }


def _watched(number: int) -> Condition:
    """Return a wait that looks at every frame and has a judge asked once an hour: what frames alone cost."""
    seldom = Policy(interval_s=3600.0, min_interval_s=3600.0, force_after_s=3600.0)
    return (Criteria(f"lamp {number} is green") if number % 2 else Stable(3600.0 + number), "screen", seldom)


def _judged(number: int) -> Condition:
    """Return a wait as it comes, each asking something else: every one is judged once or twice a second."""
    return (Criteria(f"lamp {number} is green"), "screen", Policy())


def _all_waits(size: _Size) -> dict[str, list[dict[str, Any]]]:
    with host(_UNPACED) as daemon:
        return {
            kind: _waits(daemon, kind, condition, size)
            for kind, condition in (("watching", _watched), ("judged", _judged))
        }


def _waits(daemon: Daemon, kind: str, condition: Callable[[int], Condition], size: _Size) -> list[dict[str, Any]]:
    """Return what the supervisor uses for a frame with more and more waits that look at the same pixels."""
    rows, armed = [], 0
    displays, _, _ = create(daemon, 2)
    with ManyPainter(daemon, displays) as painter:
        for count in _WAITS_ON_ONE_VIEW:
            say(f"{count} waits on one view, {kind}")
            arm(daemon, displays, tuple(condition(n) for n in range(armed, count)))
            armed = count
            painter.paint({display.name: 10.0 for display in displays})
            before = _judgements(daemon), time.monotonic()
            figures = _watch(daemon, painter, size)
            judged_per_s = (_judgements(daemon) - before[0]) / (time.monotonic() - before[1])
            painter.paint({display.name: 0.0 for display in displays})
            rows.append(
                {
                    "waits": count,
                    "supervisor_ms_per_frame": figures["cpu_ms_per_frame"]["supervisor"],
                    "judged_per_frame": round(judged_per_s / figures["captured_fps"], 3),
                    "load": figures["load"],
                }
            )
    return rows


def _judgements(daemon: Daemon) -> int:
    with Client(daemon.paths, timeout_s=60.0) as client:
        return sum(wait.judged for wait in client.wait_list(limit=1000).waits)


def _starts() -> dict[str, Any]:
    say(f"starting one display, then {_STARTED_AT_ONCE} at once")
    with host() as daemon:
        ones = [create(daemon, 1)[2] for _ in range(5)]
        _, _, all_ms = create(daemon, _STARTED_AT_ONCE)
    return {"start_one_ms": round(statistics.median(ones)), "start_32_parallel_ms": round(all_ms)}


def table(figures: dict[str, Any]) -> str:
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
