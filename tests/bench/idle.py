"""Sixteen displays and thirty-two waits, nothing changing: what watching costs."""

from __future__ import annotations

import itertools
import time
from typing import Any

from acud.types import Criteria, DisplayInfo
from acud_client import Client
from tests.bench._model import scripted_settings
from tests.bench._process import CpuShare, family, rss_mb
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter

_DISPLAYS = 16
_WAITS_EACH = 2
_SETTLE_S = 5.0
_WATCH_S = 20.0


def run() -> dict[str, Any]:
    with Daemon(settings=scripted_settings() + '[display]\nwindow_manager = "none"\nsession_bus = false\n') as daemon:
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
    began_utc_s = time.time()
    with CpuShare(pids) as cpu:
        time.sleep(_WATCH_S)
    floor, beyond = _calls(daemon.client, began_utc_s)
    return {
        "cpu_pct": round(cpu.percent, 2), "judge_calls": beyond, "floor_calls": floor, "displays": _DISPLAYS,
        "waits": _DISPLAYS * _WAITS_EACH, "processes": len(pids), "rss_mb": round(rss_mb(pids), 1),
        "watched_s": _WATCH_S,
    }  # fmt: skip


def _calls(client: Client, since_utc_s: float) -> tuple[int, int]:
    """Return the judge calls made since then: those at the floor, and those beyond it."""
    floor = beyond = 0
    for wait in client.wait_list().waits:
        times = [row.utc_s for row in client.wait_show(wait.wait_id).evaluations]
        forced = wait.spec.policy.force_after_s - 1
        for earlier, later in itertools.pairwise(times):
            if later >= since_utc_s:
                floor, beyond = (floor + 1, beyond) if later - earlier >= forced else (floor, beyond + 1)
    return floor, beyond


def table(figures: dict[str, Any]) -> str:
    return (
        f"{figures['displays']} displays, {figures['waits']} waits, {figures['processes']} acud processes: "
        f"{figures['cpu_pct']} % of a core (target 0.5), {figures['judge_calls']} judge calls in "
        f"{figures['watched_s']:.0f} s (target 0; {figures['floor_calls']} at the 30 s floor), "
        f"{figures['rss_mb']:.0f} MB"
    )
