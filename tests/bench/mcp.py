"""`acud mcp` over stdio: from spawn to the answered `initialize` and `tools/list`, a call of `wait_status`, memory, and
what the list of tools costs a model.

Spoken to with plain lines of JSON, so that a client library's own time is not counted. Beside it, in alternation in the
same run, npm's @playwright/mcp: `start_x` and `list_x` are acud's time over its, to the answer of `initialize` and of
the `tools/list` after it (null where npm can't install it). `tools_tokens`: of the list with every tool that there is,
by `tokenizer`. `listed_cpu_s`, `called_cpu_s`: CPU time of a server up to its answers to discover, listen and
tools/list, and to the first call after them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from acud.base.paths import resolve
from acud_mcp.server import describe_tool, select_tools
from acud_mcp.tool import Options
from tests.bench._tokens import STATE, counter, installed
from tests.fixtures.daemon import Daemon

_STARTS = 9
_LISTS = 200
_CALLS = 500

_ACUD = [sys.executable, "-m", "acud_cli", "mcp"]
_PEER = "@playwright/mcp@0.0.83"
_KEY = "io.modelcontextprotocol"
_CLIENT = {"name": "bench", "version": "1"}
_CAPABILITIES = {"extensions": {f"{_KEY}/tasks": {}}}
_META = {
    f"{_KEY}/protocolVersion": "2026-07-28", f"{_KEY}/clientInfo": _CLIENT, f"{_KEY}/clientCapabilities": _CAPABILITIES,
}  # fmt: skip
_MODERN: dict[str, Any] = {"_meta": _META}
_INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT}


def run() -> dict[str, Any]:
    folder = STATE / "playwright-mcp"
    peer = ["node", str(folder / "node_modules/@playwright/mcp/cli.js")] if installed(folder, _PEER) else None
    with Daemon(settings="[evaluator]\nworkers = 1\n") as daemon:
        starts, peers = [], []
        for _ in range(_STARTS):
            starts.append(_start_ms(_ACUD, daemon.env))
            if peer:
                peers.append(_start_ms(peer, daemon.env))
        cpu = [_cpu_s(daemon.env) for _ in range(_STARTS)]
        with _Server(daemon.env) as server:
            server.initialize()
            lists = [server.ask_ms("tools/list", {}) for _ in range(_LISTS)]
            server.ask_ms("tools/call", {"name": "wait_status", "arguments": {}})
            calls = [server.ask_ms("tools/call", {"name": "wait_status", "arguments": {}}) for _ in range(_CALLS)]
            rss_mb = server.rss_mb()
    count, tokenizer = counter()
    begun, listed = _medians(starts)
    peer_begun, peer_listed = _medians(peers) if peers else (None, None)
    return {
        "start_ms": round(begun, 1),
        "start_min_ms": round(min(start for start, _ in starts), 1),
        "listed_ms": round(listed, 1),
        "listed_cpu_s": round(statistics.median(listed for listed, _ in cpu), 2),
        "called_cpu_s": round(statistics.median(called for _, called in cpu), 2),
        "peer": _PEER,
        "peer_start_ms": round(peer_begun, 1) if peer_begun else None,
        "peer_listed_ms": round(peer_listed, 1) if peer_listed else None,
        "start_x": round(begun / peer_begun, 3) if peer_begun else None,
        "list_x": round(listed / peer_listed, 3) if peer_listed else None,
        "tools": len(_tools()),
        "tools_tokens": count(json.dumps(_tools(), separators=(",", ":"), ensure_ascii=False)),
        "tokenizer": tokenizer,
        "list_ms": round(statistics.median(lists), 2),
        "call_ms": round(statistics.median(calls), 2),
        "call_p99_ms": round(sorted(calls)[int(len(calls) * 0.99)], 2),
        "rss_mb": round(rss_mb, 1),
    }


def _tools() -> list[dict[str, Any]]:
    options = Options(resolve({"ACU_HOME": "/nowhere"}), workspace=Path("/nowhere"))
    return [describe_tool(tool) for tool in select_tools(options)]


def _start_ms(command: list[str], env: dict[str, str]) -> tuple[float, float]:
    """Return the time from spawn to the answer of `initialize`, and to that of `tools/list` right after it."""
    began = time.perf_counter()
    with _Server(env, command) as server:
        server.initialize()
        begun = time.perf_counter()
        server.ask_ms("tools/list", {})
        return (begun - began) * 1e3, (time.perf_counter() - began) * 1e3


def _cpu_s(env: dict[str, str]) -> tuple[float, float]:
    """Return the CPU time of a server that Claude Code begins with, to its list of tools and to the first call."""
    with _Server(env) as server:
        server.ask_ms("server/discover", _MODERN)
        server.ask_ms("subscriptions/listen", _MODERN | {"notifications": {"toolsListChanged": True}})
        server.ask_ms("tools/list", _MODERN)
        listed = server.cpu_s()
        server.ask_ms("tools/call", _MODERN | {"name": "wait_status", "arguments": {}})
        return listed, server.cpu_s()


def _medians(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(first for first, _ in pairs), statistics.median(second for _, second in pairs)


class _Server:
    """A server process, spoken to line by line."""

    def __init__(self, env: dict[str, str], command: list[str] = _ACUD) -> None:
        self._process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._number = 0

    def initialize(self) -> None:
        self.ask_ms("initialize", _INITIALIZE)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask_ms(self, method: str, params: dict[str, Any]) -> float:
        assert self._process.stdout is not None
        self._number += 1
        began = time.perf_counter()
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        reply = json.loads(self._process.stdout.readline())
        if "error" in reply or reply.get("result", {}).get("isError"):
            raise RuntimeError(f"{method}: {reply}")
        return (time.perf_counter() - began) * 1e3

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mb(self) -> float:
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
    return (
        f"start           {figures['start_ms']:.0f} ms to initialize answered, best {figures['start_min_ms']:.0f};"
        f" {figures['listed_ms']:.0f} ms to the list of tools\n"
        f"{figures['peer']}  {figures['peer_start_ms']} ms, {figures['peer_listed_ms']} ms;"
        f" start_x {figures['start_x']}, list_x {figures['list_x']} (target 1.0)\n"
        f"CPU time        {figures['listed_cpu_s']} s to the list of tools (target 0.3),"
        f" {figures['called_cpu_s']} s to the answer of the first call (target 0.8)\n"
        f"list of tools   {figures['tools_tokens']} tokens in {figures['tools']} tools by {figures['tokenizer']}"
        f" (target 3000)\n"
        f"tools/list      {figures['list_ms']} ms\n"
        f"wait_status     p50 {figures['call_ms']} ms (target 3), p99 {figures['call_p99_ms']} ms\n"
        f"memory          {figures['rss_mb']} MB (target 90)"
    )
