"""Sixteen displays and thirty-two waits, nothing changing: what watching costs."""

from __future__ import annotations

import time
from typing import Any

from acud.types import Criteria, DisplayInfo
from tests.bench._painter import Painter
from tests.bench._process import CpuShare, family, rss_mb
from tests.bench.wait import settings
from tests.daemon import Daemon

_DISPLAYS = 16
_WAITS_EACH = 2
_SETTLE_S = 5.0
_WATCH_S = 25.0


def run() -> dict[str, Any]:
    """Return the figures; the watch is shorter than the floor of 30 s, so no judge call is due at all."""
    with Daemon(settings=settings() + '[display]\nwindow_manager = "none"\nsession_bus = false\n') as daemon:
        displays = [daemon.client.display_create(1280, 720).display for _ in range(_DISPLAYS)]
        painters = [Painter(display) for display in displays]
        try:
            return _watch(daemon, displays)
        finally:
            for painter in painters:
                painter.close()


def _watch(daemon: Daemon, displays: list[DisplayInfo]) -> dict[str, Any]:
    for display in displays:
        for n in range(_WAITS_EACH):
            daemon.client.wait_create(Criteria(f"lamp {n} is green"), display=display.name, timeout_s=600.0)
    while any(wait.judged == 0 for wait in daemon.client.wait_list().waits):
        time.sleep(0.2)
    time.sleep(_SETTLE_S)
    pids = family(daemon.pid)
    before = daemon.client.status().judge_calls
    with CpuShare(pids) as cpu:
        time.sleep(_WATCH_S)
    return {
        "cpu_pct": round(cpu.percent, 2),
        "judge_calls": daemon.client.status().judge_calls - before,
        "displays": _DISPLAYS,
        "waits": _DISPLAYS * _WAITS_EACH,
        "processes": len(pids),
        "rss_mb": round(rss_mb(pids), 1),
        "watched_s": _WATCH_S,
    }


def table(figures: dict[str, Any]) -> str:
    """Return the figures for a person."""
    return (
        f"{figures['displays']} displays, {figures['waits']} waits, {figures['processes']} acud processes: "
        f"{figures['cpu_pct']} % of a core (target 1.5), {figures['judge_calls']} judge calls in "
        f"{figures['watched_s']:.0f} s (target 0), {figures['rss_mb']:.0f} MB"
    )
