"""What the way over a fleet costs: the same requests to one daemon on its own socket, and through the endpoint and
three NATS servers with TLS to it, by turns in one run on one machine. And what signatures cost: one alone, and the same
requests over one server with an account for each member, without them and with them.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import nkeys

from acud.features.fleet.signatures import Signed, Signer, stamp_of
from acud.types import Change
from acud_client import Client
from acud_fleet.access import permissions
from tests import nkey_files
from tests.certificates import Authority
from tests.fleet_rig import Fleet

CALLS = 200
CLIENTS = 8
EACH = 60
ROUNDS = 10
_HOSTS = ("h1", "h2", "h3")


def latency_ms(call: Callable[[], object], calls: int = CALLS) -> dict[str, float]:
    """Return median and 95th percentile of one caller's calls, one after the other."""
    for _ in range(10):
        call()
    taken: list[float] = []
    for _ in range(calls):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1000)
    return {"p50_ms": round(median(taken), 3), "p95_ms": round(quantiles(taken, n=20)[-1], 3)}


def per_second(calls: list[Callable[[], object]], each: int = EACH) -> float:
    """Return calls a second of several callers side by side, each with a call of its own."""

    def work(call: Callable[[], object]) -> None:
        for _ in range(each):
            call()

    with ThreadPoolExecutor(len(calls)) as pool:
        began = time.perf_counter()
        list(pool.map(work, calls))
        return round(len(calls) * each / (time.perf_counter() - began), 1)


def cpu_ms(pid: int) -> float:
    """Return what the threads of a process ran that live, in milliseconds (/proc/PID/task/TID/schedstat)."""
    spent = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError):  # it ended meanwhile
            spent += int((task / "schedstat").read_text().split()[0])
    return spent / 1e6


def tls_fleet(folder: Path, hosts: Mapping[str, str], servers: int = 3) -> Fleet:
    """Return a fleet whose every connection is encrypted; certificates are made in `folder`."""
    authority = Authority(folder)
    pair = authority.certify("server", "127.0.0.1")
    login = f'tls_ca = "{authority.ca}"\n'
    return Fleet(
        dict(hosts),
        room=8,
        servers=servers,
        extra=f'ping_interval: "2s"\nping_max: 2\ntls {{ cert_file: "{pair.cert}", key_file: "{pair.key}" }}\n',
        login_of=lambda name: login,
        admin={"tls_ca": str(authority.ca)},
    )


def _wait_on(client: Client, label: str) -> str:
    task = client.task_register(label).view.task
    return client.wait_create(Change(), task_id=task.task_id, timeout_s=600).wait.wait_id


def arming(client: Client, display: str) -> Callable[[], object]:
    """Return what arms a wait, waits for its baseline, and ends it."""

    def arm() -> None:
        client.wait_cancel(client.wait_create(Change(), display=display, timeout_s=600).wait.wait_id)

    return arm


def run(quick: bool = False) -> dict[str, Any]:
    """Measure `wait_result` (of one wait), `wait_list` (of all hosts), a picture of 640x480, and a wait armed and ended
    (three requests to a daemon's store), directly and through the fleet.

    `direct_x_p50`: the median latency of `wait_result` through the fleet by the direct one; `throughput_x`: its calls a
    second by the direct ones. Each is the median over rounds in which both were measured one after the other.
    """
    rounds = 2 if quick else ROUNDS
    with tempfile.TemporaryDirectory() as folder, tls_fleet(Path(folder), dict.fromkeys(_HOSTS, "")) as fleet:
        homes = waits_on(fleet)
        found = {"clients": CLIENTS} | _ratios(fleet, homes, rounds)
        if quick:
            return found
        found |= _others(fleet, homes)
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
            wait = waits_on(fleet)["h1"]
            asking: list[Callable[[], object]] = [lambda: fleet.client.wait_result(wait)] * CLIENTS
            row = latency_ms(asking[0]) | {"per_s": per_second(asking)}
            return {"signed" if signed else "accounts": row}


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


def waits_on(fleet: Fleet) -> dict[str, str]:
    """Return a wait on each host, armed there now."""
    waits = [_wait_on(fleet.client, f"bench {n}") for n in range(len(fleet.daemons))]
    return {fleet.client.fleet_place(wait).host: wait for wait in waits}


def _ratios(fleet: Fleet, homes: dict[str, str], rounds: int) -> dict[str, Any]:
    """Return `wait_result` both ways, the ratios, and what the processes of the fleet spent on one."""
    one, outer, wait = fleet.daemons["h1"].client, fleet.client, homes["h1"]
    ways: list[Callable[[], object]] = [lambda: one.wait_result(wait), lambda: outer.wait_result(wait)]
    spread: list[Callable[[], object]] = [
        (lambda wait=wait: outer.wait_result(wait)) for wait in (list(homes.values()) * CLIENTS)[:CLIENTS]
    ]
    assert fleet.endpoint.process is not None
    endpoint, spent = fleet.endpoint.process.pid, []
    taken: list[list[dict[str, float]]] = []
    rates: list[list[float]] = []
    for _ in range(rounds):
        taken.append([latency_ms(way) for way in ways])
        direct = per_second([ways[0]] * CLIENTS)
        before = cpu_ms(endpoint)
        through = per_second([ways[1]] * CLIENTS)
        spent.append((cpu_ms(endpoint) - before) / (CLIENTS * EACH))
        rates.append([direct, through, per_second(spread)])
    rows = [
        {key: round(median(row[at][key] for row in taken), 3) for key in ("p50_ms", "p95_ms")}
        | {"per_s": round(median(row[at] for row in rates), 1)}
        for at in range(2)
    ]
    return {
        "direct_x_p50": round(median(row[1]["p50_ms"] / row[0]["p50_ms"] for row in taken), 2),
        "throughput_x": round(median(row[1] / row[0] for row in rates), 3),
        "endpoint_cpu_ms": round(median(spent), 3),
        "direct": rows[0],
        "fleet_one_host": rows[1],
        "fleet_three_hosts": {"per_s": round(median(row[2] for row in rates), 1)},
    }


def _others(fleet: Fleet, homes: dict[str, str]) -> dict[str, Any]:
    one, outer = fleet.daemons["h1"].client, fleet.client
    inner, shown = (client.wait_result(homes["h1"]).wait.display for client in (one, outer))
    return {
        "list_direct": latency_ms(one.wait_list),
        "list_fleet": latency_ms(outer.wait_list),
        "look_direct": latency_ms(lambda: one.look(display=inner)),
        "look_fleet": latency_ms(lambda: outer.look(display=shown)),
        "arm_direct": latency_ms(arming(one, inner)),
        "arm_fleet": latency_ms(arming(outer, shown)),
    }


def table(figures: dict[str, Any]) -> str:
    """Return the figures as lines."""
    lines = [f"{'':<30} {'median ms':>10} {'p95 ms':>8} {'calls/s, ' + str(figures['clients']) + ' clients':>20}"]
    for name, row in figures.items():
        if isinstance(row, dict):
            cells = (row.get("p50_ms", ""), row.get("p95_ms", ""), row.get("per_s", ""))
            lines.append(f"{name:<30} {cells[0]:>10} {cells[1]:>8} {cells[2]:>20}")
    lines.append(
        f"wait_result: {figures['direct_x_p50']} x the direct latency, {figures['throughput_x']} of the direct"
    )
    lines[-1] += f" throughput, {figures['endpoint_cpu_ms']} ms of the endpoint's CPU each"
    return "\n".join(lines)
