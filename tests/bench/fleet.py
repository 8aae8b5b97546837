"""What the way over a fleet costs: the same requests to one daemon on its own socket, and through the endpoint and NATS
to one host and to three, over one server and over a cluster of three, in one run on one machine. And what signatures
cost: over one server with an account for each member, without them and with them.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import nkeys

from acud.features.fleet.signatures import Signed, Signer, stamp_of
from acud.types import Change
from acud_client import Client
from acud_fleet.access import permissions
from tests import nkey_files
from tests.fleet_rig import Fleet

CALLS = 200
CLIENTS = 8
EACH = 60
_HOSTS = ("h1", "h2", "h3")


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


def _arming(client: Client, display: str) -> Callable[[], object]:
    """Return what arms a wait, waits for its baseline, and ends it."""

    def arm() -> None:
        client.wait_cancel(client.wait_create(Change(), display=display, timeout_s=600).wait.wait_id)

    return arm


def run() -> dict[str, Any]:
    """Measure `wait_result` (of one wait), `wait_list` (of all hosts), a picture of 640x480, and a wait armed and ended
    (three requests to a daemon's store), over one server and over three that keep three copies each.
    """
    with Fleet(dict.fromkeys(_HOSTS, ""), room=8) as fleet:
        found = {"clients": CLIENTS} | _one(fleet) | _through(fleet, "fleet")
    with Fleet(dict.fromkeys(_HOSTS, ""), room=8, servers=3) as fleet:
        found |= _through(fleet, "fleet_3_servers")
    return found | _signatures() | _accounts(signed=False) | _accounts(signed=True)


def _accounts(*, signed: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        seeds = Path(folder)
        grants = nkey_files.grants(seeds)
        key = f'admin_key = "{grants.admin_key()}"\n' if signed else ""
        with Fleet(
            dict.fromkeys(_HOSTS[:2], ""),
            room=8,
            extra=permissions(grants),
            login_of=lambda name: f'nkey_seed_file = "{seeds / name.upper()}"\n{key}',
            admin={"nkey_seed_file": str(seeds / "ADMIN")},
            grants=grants,
        ) as fleet:
            return _through(fleet, "signed" if signed else "accounts")


def _signatures() -> dict[str, Any]:
    """Measure one signature and its check, for a request and for a picture, without the servers."""
    signer = Signer(nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER))
    found = {}
    for name, size in (("300_bytes", 300), ("1_mb", 1_000_000)):
        body = os.urandom(size)
        value = signer.sign(Signed.REPLY, "acud.req.h1", body)
        found[f"sign_{name}"] = latency_ms(lambda body=body: signer.sign(Signed.REPLY, "acud.req.h1", body))
        found[f"check_{name}"] = latency_ms(
            lambda value=value, body=body: stamp_of(value, Signed.REPLY, "acud.req.h1", body)
        )
    return found


def _homes(fleet: Fleet) -> dict[str, str]:
    """Return a wait on each host."""
    waits = [_wait_on(fleet.client, f"bench {n}") for n in range(len(_HOSTS))]
    return {fleet.client.fleet_place(wait).host: wait for wait in waits}


def _one(fleet: Fleet) -> dict[str, Any]:
    near = _homes(fleet)["h1"]
    one = fleet.daemons["h1"].client
    inner = one.wait_result(near).wait.display

    def ask() -> object:
        return one.wait_result(near)

    return {
        "direct": latency_ms(ask) | {"per_s": per_second([ask] * CLIENTS)},
        "list_direct": latency_ms(one.wait_list),
        "look_direct": latency_ms(lambda: one.look(display=inner)),
        "arm_direct": latency_ms(_arming(one, inner)),
    }


def _through(fleet: Fleet, name: str) -> dict[str, Any]:
    outer = fleet.client
    homes = _homes(fleet)
    shown = outer.wait_result(homes["h1"]).wait.display

    def through() -> object:
        return outer.wait_result(homes["h1"])

    spread: list[Callable[[], object]] = [
        (lambda wait=wait: outer.wait_result(wait)) for wait in (list(homes.values()) * CLIENTS)[:CLIENTS]
    ]
    return {
        f"{name}_one_host": latency_ms(through) | {"per_s": per_second([through] * CLIENTS)},
        f"{name}_three_hosts": {"per_s": per_second(spread)},
        f"list_{name}": latency_ms(outer.wait_list),
        f"look_{name}": latency_ms(lambda: outer.look(display=shown)),
        f"arm_{name}": latency_ms(_arming(outer, shown)),
    }


def table(figures: dict[str, Any]) -> str:
    """Return the figures as lines."""
    lines = [f"{'':<30} {'median ms':>10} {'p95 ms':>8} {'calls/s, ' + str(figures['clients']) + ' clients':>20}"]
    for name, row in figures.items():
        if isinstance(row, dict):
            cells = (row.get("p50_ms", ""), row.get("p95_ms", ""), row.get("per_s", ""))
            lines.append(f"{name:<30} {cells[0]:>10} {cells[1]:>8} {cells[2]:>20}")
    return "\n".join(lines)
