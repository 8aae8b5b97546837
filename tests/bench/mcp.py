"""`acud mcp` over stdio: from spawn to the answered `initialize`, `tools/list`, a call of `wait_status`, and memory.

Spoken to with plain lines of JSON, so that a client library's own time is not counted.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.daemon import Daemon

_STARTS = 7
_LISTS = 200
_CALLS = 500

_INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def run() -> dict[str, Any]:
    """Return the figures; see docs/benchmarks.md."""
    with Daemon(settings="[evaluator]\nworkers = 1\n") as daemon:
        starts = [_start_ms(daemon.env) for _ in range(_STARTS)]
        with _Server(daemon.env) as server:
            server.initialize()
            lists = [server.ask_ms("tools/list", {}) for _ in range(_LISTS)]
            server.ask_ms("tools/call", {"name": "wait_status", "arguments": {}})
            calls = [server.ask_ms("tools/call", {"name": "wait_status", "arguments": {}}) for _ in range(_CALLS)]
            rss_mb = server.rss_mb()
    return {
        "start_ms": round(statistics.median(starts), 1),
        "start_min_ms": round(min(starts), 1),
        "list_ms": round(statistics.median(lists), 2),
        "call_ms": round(statistics.median(calls), 2),
        "call_p99_ms": round(sorted(calls)[int(len(calls) * 0.99)], 2),
        "rss_mb": round(rss_mb, 1),
    }


def _start_ms(env: dict[str, str]) -> float:
    began = time.perf_counter()
    with _Server(env) as server:
        server.initialize()
        return (time.perf_counter() - began) * 1e3


class _Server:
    """A server process, spoken to line by line."""

    def __init__(self, env: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "acud_cli", "mcp"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._number = 0

    def initialize(self) -> None:
        """Shake hands."""
        self.ask_ms("initialize", _INITIALIZE)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask_ms(self, method: str, params: dict[str, Any]) -> float:
        """Return how long one request took."""
        assert self._process.stdout is not None
        self._number += 1
        began = time.perf_counter()
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        reply = json.loads(self._process.stdout.readline())
        if "error" in reply or reply["result"].get("isError"):
            raise RuntimeError(f"{method}: {reply}")
        return (time.perf_counter() - began) * 1e3

    def rss_mb(self) -> float:
        """Return the resident memory of the server."""
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()


def table(figures: dict[str, Any]) -> str:
    """Return the figures for a person."""
    return (
        f"start           {figures['start_ms']:.0f} ms to initialize answered, best {figures['start_min_ms']:.0f}"
        f" (target 900)\n"
        f"tools/list      {figures['list_ms']} ms\n"
        f"wait_status     p50 {figures['call_ms']} ms (target 3), p99 {figures['call_p99_ms']} ms\n"
        f"memory          {figures['rss_mb']} MB (target 90)"
    )
