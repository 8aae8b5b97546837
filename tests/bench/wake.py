"""From a verdict to the agent's door: a wait resolves, its wake arrives at a webhook, beside a route that is dead.

The clock starts when the supervisor decided, before the commit: the evaluator's evidence is written by then. It is
read from the wake itself (`created_utc_s`), which is made with the verdict; the receiver stamps the arrival.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from acud.types import RouteName, WakeAddress, WindowTitle
from tests.fixtures.daemon import Daemon
from tests.fixtures.ports import free_port
from tests.fixtures.wake_receiver import Receiver, Taken

_WAKES = 200
_BESIDE = 50
_NEVER = WindowTitle("there is no such window")
_SETTINGS = """
[display]
window_manager = "none"
session_bus = false
[evaluator]
workers = 1
[wake]
routes = ["webhook"]
webhook_url = "{url}"
webhook_secret = "bench"
openclaw_url = "http://127.0.0.1:{dead}/hooks"
openclaw_token = "bench"
openclaw_cli = "/nowhere/openclaw"
remind_after_s = 0
"""


def run() -> dict[str, Any]:
    came: dict[str, float] = {}

    def note(taken: Taken) -> None:
        came[taken.body["id"]] = (time.time() - taken.body["created_utc_s"]) * 1000

    with Receiver(taken=note) as receiver:
        settings = _SETTINGS.format(url=receiver.url, dead=free_port())
        with Daemon(settings=settings) as daemon:
            name = daemon.client.display_create(64, 64).display.name
            alone = _measured(daemon, name, came)
            _park_on_dead_routes(daemon, name)
            beside = _measured(daemon, name, came)
            fallback = _measured(daemon, name, came, WakeAddress((RouteName.OPENCLAW, RouteName.WEBHOOK)))
    return {
        "p50_ms": _at(beside, 0.5), "p99_ms": _at(beside, 0.99), "alone_p50_ms": _at(alone, 0.5),
        "alone_p99_ms": _at(alone, 0.99), "fallback_p50_ms": _at(fallback, 0.5), "wakes": _WAKES, "beside": 2 * _BESIDE,
    }  # fmt: skip


def _park_on_dead_routes(daemon: Daemon, display: str) -> None:
    for number in range(2 * _BESIDE):
        route = RouteName.OPENCLAW if number % 2 else RouteName.OPENCLAW_CLI
        _timed_out(daemon, display, WakeAddress((route,)))


def _measured(daemon: Daemon, display: str, came: dict[str, float], address: WakeAddress | None = None) -> list[float]:
    came.clear()
    for number in range(_WAKES):
        _timed_out(daemon, display, address or WakeAddress())
        end_s = time.monotonic() + 30
        while len(came) <= number:
            if time.monotonic() > end_s:
                raise RuntimeError("a wake did not arrive")
            time.sleep(0.001)
    return sorted(came.values())


def _timed_out(daemon: Daemon, display: str, address: WakeAddress) -> None:
    """Have a verdict: a deadline is one that costs nothing else."""
    daemon.client.wait_create(_NEVER, display=display, timeout_s=0.02, wake=address)


def _at(ordered: list[float], share: float) -> float:
    if share == 0.5:
        return round(statistics.median(ordered), 2)
    return round(ordered[int(len(ordered) * share)], 2)


def table(figures: dict[str, Any]) -> str:
    return (
        f"verdict → webhook  p50 {figures['p50_ms']} ms (target 15), p99 {figures['p99_ms']} ms, beside "
        f"{figures['beside']} wakes on dead routes; alone p50 {figures['alone_p50_ms']}, "
        f"p99 {figures['alone_p99_ms']} ms\n"
        f"over a dead route first  p50 {figures['fallback_p50_ms']} ms"
    )
