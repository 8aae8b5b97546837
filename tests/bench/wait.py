"""From a real repaint to the resolved event at a client, with 1, 8 and 32 waits on one display."""

from __future__ import annotations

import json
import statistics
import time
from typing import Any

from acud.protocol.events import Event
from acud.types import Criteria
from acud_client import Client
from tests.bench._process import CpuShare, family, rss_mb
from tests.daemon import Daemon
from tests.fixtures.painter import GREEN, LAMP, Painter

JUDGE_MS = 200
_QUIET_S = 2.2
_ROUNDS = {1: 12, 8: 6, 32: 4}


def script() -> str:
    """Return the scripted judge: yes once the lamp's middle is green."""
    x, y = LAMP.x + LAMP.w // 2, LAMP.y + LAMP.h // 2
    return json.dumps({"delay_ms": JUDGE_MS, "rules": [{"pixel": [x, y, GREEN], "answer": "yes"}], "default": "no"})


def settings() -> str:
    """Return the daemon's settings for this benchmark."""
    return f"[vision]\nbackend = \"scripted\"\nscripted = '{script()}'\n"


def run() -> dict[str, Any]:
    """Return the figures; see docs/benchmarks.md."""
    figures: dict[str, Any] = {"judge_ms": JUDGE_MS}
    with Daemon(settings=settings()) as daemon:
        display = daemon.client.display_create(1280, 720).display
        painter = Painter(display)
        try:
            for count, rounds in _ROUNDS.items():
                figures[f"n{count}"] = _measure(daemon, painter, display.name, count, rounds)
        finally:
            painter.close()
    return figures


def _measure(daemon: Daemon, painter: Painter, display: str, count: int, rounds: int) -> dict[str, float]:
    pids = family(daemon.pid)
    latencies: list[float] = []
    with CpuShare(pids) as cpu:
        for _ in range(rounds):
            latencies += _round(daemon.client, painter, display, count)
    latencies.sort()
    return {
        "p50_ms": round(statistics.median(latencies), 1),
        "p95_ms": round(latencies[min(len(latencies) - 1, int(len(latencies) * 0.95))], 1),
        "max_ms": round(latencies[-1], 1),
        "samples": len(latencies),
        "cpu_pct": round(cpu.percent, 1),
        "rss_mb": round(rss_mb(pids), 1),
    }


def _round(client: Client, painter: Painter, display: str, count: int) -> list[float]:
    painter.lamp(on=False)
    with client.events(topic="wait.") as events:
        waits = [
            client.wait_create(Criteria(f"lamp number {n} is green"), display=display, timeout_s=60.0).wait.wait_id
            for n in range(count)
        ]
        _judged(client, waits)
        time.sleep(_QUIET_S)  # the figure's own condition: at least two seconds after the last judgement
        began = painter.lamp(on=True)
        return _resolved(events, set(waits), began)


def _judged(client: Client, waits: list[str]) -> None:
    while any(client.wait_show(wait).wait.judged == 0 for wait in waits):
        time.sleep(0.05)


def _resolved(events: Any, waits: set[str], began: float) -> list[float]:
    latencies = []
    for event in events:
        if isinstance(event, Event) and event.topic == "wait.resolved" and event.subject in waits:
            latencies.append((time.monotonic() - began) * 1000)
            waits.remove(event.subject)
        if not waits:
            return latencies
    raise RuntimeError("the event stream ended")


def table(figures: dict[str, Any]) -> str:
    """Return the figures for a person."""
    lines = [f"judge {figures['judge_ms']} ms; targets: p95 <= judge + 60 for 1 and 8 waits, + 150 for 32"]
    for name in ("n1", "n8", "n32"):
        row = figures[name]
        lines.append(
            f"{name:>4}  p50 {row['p50_ms']:7.1f}  p95 {row['p95_ms']:7.1f}  max {row['max_ms']:7.1f} ms  "
            f"cpu {row['cpu_pct']:5.1f} %  memory {row['rss_mb']:.0f} MB  ({row['samples']} samples)"
        )
    return "\n".join(lines)
