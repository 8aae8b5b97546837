"""What floods cost others: each for some seconds, and meanwhile a deadline of 3 s, `status` by another client, the
supervisor's memory, and whether a child was killed.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

from acud.types import Stable
from acud_client import Client
from tests.fixtures.daemon import Daemon
from tests.fixtures.floods import FLOODS, flooding, rss_mb

_SETTINGS = '[evaluator]\nworkers = 1\n[display]\nwindow_manager = "none"\nsession_bus = false\n'
_DEADLINE_S = 3.0
_FLOOD_S = 12.0
_WAITS = 800
_PAUSE_S = 0.02
_SAMPLE_S = 0.1
_PROMISED = {"deadline_late_ms": 500.0, "status_p99_ms": 250.0, "rss_mb": 150.0, "killed": 0}

Figures = dict[str, float]


def run() -> dict[str, Any]:
    return {name: _measure(name) for name in ("calm", *FLOODS)}


def _measure(flood: str) -> Figures:
    with Daemon(settings=_SETTINGS) as daemon:
        client = daemon.client
        display = client.display_create(64, 64).display
        for _ in range(_WAITS):
            client.wait_create(Stable(3600.0), display=display.name, timeout_s=7200.0)
        before = _restarts(client)
        with flooding(daemon, flood), _watching(daemon) as seen, Client(daemon.paths, timeout_s=120) as prober:
            _probe(prober, display.name, seen)
        time.sleep(1.0)
        killed = _restarts(client) - before
        return {
            "deadline_late_ms": round(max(seen["late_ms"]), 1),
            "status_p50_ms": round(sorted(seen["status_ms"])[len(seen["status_ms"]) // 2], 1),
            "status_p99_ms": round(sorted(seen["status_ms"])[int(len(seen["status_ms"]) * 0.99)], 1),
            "rss_mb": round(max(seen["rss_mb"]), 1),
            "killed": killed,
        }


def _restarts(client: Client) -> int:
    return sum(child.restarts for child in client.status().children)


def _probe(client: Client, display: str, seen: dict[str, list[float]]) -> None:
    """Ask for `status` again and again; in the middle of the flood a wait is to time out after its 3 s."""
    end_s = time.monotonic() + _FLOOD_S
    wait_id, due_utc_s = "", 0.0
    while time.monotonic() < end_s or wait_id:
        began_s = time.monotonic()
        client.status()
        seen["status_ms"].append((time.monotonic() - began_s) * 1000)
        if not wait_id and time.monotonic() < end_s:
            wait = client.wait_create(Stable(3600.0), display=display, timeout_s=_DEADLINE_S).wait
            wait_id, due_utc_s = wait.wait_id, wait.created_utc_s + _DEADLINE_S
        elif wait_id and time.time() > due_utc_s:
            ended = client.wait_show(wait_id).wait
            if ended.ended_utc_s:
                seen["late_ms"].append(1000 * (ended.ended_utc_s - due_utc_s))
                wait_id = ""
        time.sleep(_PAUSE_S)


@contextlib.contextmanager
def _watching(daemon: Daemon) -> Iterator[dict[str, list[float]]]:
    """Sample the supervisor's resident memory for as long as the block runs."""
    seen: dict[str, list[float]] = {"rss_mb": [], "status_ms": [], "late_ms": []}
    over = threading.Event()

    def sample() -> None:
        while not over.wait(_SAMPLE_S):
            seen["rss_mb"].append(rss_mb(daemon.pid))

    watching = threading.Thread(target=sample)
    watching.start()
    try:
        yield seen
    finally:
        over.set()
        watching.join()


def table(figures: dict[str, Any]) -> str:
    promised = ", ".join(f"{name} {most:g}" for name, most in _PROMISED.items())
    rows = [
        f"{name:20} deadline {f['deadline_late_ms']:9.1f} ms late, status p99 {f['status_p99_ms']:9.1f} ms, "
        f"{f['rss_mb']:7.1f} MiB, {f['killed']:g} killed"
        for name, f in figures.items()
    ]
    return "\n".join([*rows, f"promised at most: {promised}"])
