"""What the way over a fleet costs: the same requests to one daemon on its own socket, and through the endpoint and NATS
to one host and to three, in one run on one machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median, quantiles
from typing import Any

from acud.types import Change
from acud_client import Client
from tests.fleet_rig import Fleet

CALLS = 200
CLIENTS = 8
EACH = 60


def latency_ms(call: Callable[[], object]) -> dict[str, float]:
    """Return median and 95th percentile of one caller's calls, one after the other."""
    for _ in range(10):
        call()
    taken: list[float] = []
    for _ in range(CALLS):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1000)
    return {"p50_ms": round(median(taken), 3), "p95_ms": round(quantiles(taken, n=20)[-1], 3)}


def per_second(calls: list[Callable[[], object]]) -> float:
    """Return calls a second of several callers side by side, each with a call of its own."""

    def work(call: Callable[[], object]) -> None:
        for _ in range(EACH):
            call()

    with ThreadPoolExecutor(len(calls)) as pool:
        began = time.perf_counter()
        list(pool.map(work, calls))
        return round(len(calls) * EACH / (time.perf_counter() - began), 1)


def _wait_on(client: Client, label: str) -> str:
    task = client.task_register(label).view.task
    return client.wait_create(Change(), task_id=task.task_id, timeout_s=600).wait.wait_id


def run() -> dict[str, Any]:
    """Measure `wait_result` (of one wait) and `wait_list` (of all hosts), and a picture of 640x480."""
    with Fleet({"h1": "", "h2": "", "h3": ""}, room=8) as fleet:
        outer = fleet.client
        waits = [_wait_on(outer, f"bench {n}") for n in range(3)]
        homes = {outer.fleet_place(wait).host: wait for wait in waits}
        one = fleet.daemons["h1"].client
        near = homes["h1"]
        shown = outer.wait_result(near).wait.display
        inner = shown.partition("/")[2]

        def direct() -> object:
            return one.wait_result(near)

        def through() -> object:
            return outer.wait_result(near)

        spread: list[Callable[[], object]] = [
            (lambda wait=wait: outer.wait_result(wait)) for wait in (list(homes.values()) * CLIENTS)[:CLIENTS]
        ]
        return {
            "clients": CLIENTS,
            "direct": latency_ms(direct) | {"per_s": per_second([direct] * CLIENTS)},
            "fleet_one_host": latency_ms(through) | {"per_s": per_second([through] * CLIENTS)},
            "fleet_three_hosts": {"per_s": per_second(spread)},
            "list_direct": latency_ms(one.wait_list),
            "list_fleet": latency_ms(outer.wait_list),
            "look_direct": latency_ms(lambda: one.look(display=inner)),
            "look_fleet": latency_ms(lambda: outer.look(display=shown)),
        }


def table(figures: dict[str, Any]) -> str:
    """Return the figures as lines."""
    lines = [f"{'':<18} {'median ms':>10} {'p95 ms':>8} {'calls/s, ' + str(figures['clients']) + ' clients':>20}"]
    for name, row in figures.items():
        if isinstance(row, dict):
            cells = (row.get("p50_ms", ""), row.get("p95_ms", ""), row.get("per_s", ""))
            lines.append(f"{name:<18} {cells[0]:>10} {cells[1]:>8} {cells[2]:>20}")
    return "\n".join(lines)
