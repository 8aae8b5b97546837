"""The control socket: round trips of `status`, and durable creations of waits by sixteen clients."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from acud.paths import resolve
from acud.types import Stable
from acud_client import Client
from tests.daemon import Daemon

_STATUS_CALLS = 2000
_CLIENTS = 16
_CREATES_EACH = 60
_SYNCS = 200


def run() -> dict[str, Any]:
    """Return the figures; see docs/benchmarks.md."""
    with Daemon(settings="[evaluator]\nworkers = 1\n") as daemon:
        daemon.client.display_create(64, 64)
        status_us = _status(daemon.client)
        sync_ms = _fdatasync(daemon.home)
        return {
            "status_p50_us": round(statistics.median(status_us), 1),
            "status_p99_us": round(sorted(status_us)[int(len(status_us) * 0.99)], 1),
            "create_per_s": round(_creates(daemon), 1),
            "fdatasync_p50_ms": round(sync_ms, 3),
            "clients": _CLIENTS,
        }


def _status(client: Client) -> list[float]:
    times = []
    for _ in range(_STATUS_CALLS):
        began = time.perf_counter()
        client.status()
        times.append((time.perf_counter() - began) * 1e6)
    return times


def _fdatasync(folder: Path) -> float:
    times = []
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        for _ in range(_SYNCS):
            file.write(b"x" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times)


def _creates(daemon: Daemon) -> float:
    """Return creations per second: every client is a process of its own; all begin at one sign."""
    clients = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.bench.rpc", str(_CREATES_EACH)],
            env=daemon.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(_CLIENTS)
    ]
    for client in clients:
        assert client.stdout is not None
        client.stdout.readline()
    began = time.perf_counter()
    for client in clients:
        assert client.stdin is not None
        client.stdin.close()
    for client in clients:
        if client.wait() != 0:
            raise RuntimeError("a client failed")
    return _CLIENTS * _CREATES_EACH / (time.perf_counter() - began)


def _client(count: int) -> None:
    with Client(resolve(os.environ)) as client:
        client.status()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.read()
        for number in range(count):
            client.wait_create(Stable(3600.0), timeout_s=7200.0, label=f"bench {number}")


def table(figures: dict[str, Any]) -> str:
    """Return the figures for a person."""
    return (
        f"status          p50 {figures['status_p50_us']:.0f} us (target 200), p99 {figures['status_p99_us']:.0f} us\n"
        f"wait_create     {figures['create_per_s']:.0f}/s durable, {figures['clients']} clients (target 800); "
        f"fdatasync here {figures['fdatasync_p50_ms']} ms"
    )


if __name__ == "__main__":
    _client(int(sys.argv[1]))
