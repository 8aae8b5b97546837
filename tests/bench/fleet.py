"""What the way over a fleet costs: the same requests to one daemon on its own socket, and through the endpoint and
three NATS servers with TLS to it, by turns in one run on one machine. And what signatures cost: one alone, and the same
requests over one server with an account for each member, without them and with them; what several processes of the
endpoint take; and what carrying other hosts' wakes costs.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import nkeys

from acud.features.fleet.signatures import Signed, Signer, check_stamp, read_stamp
from acud.types import Change
from acud_client import Client
from acud_fleet.access import permissions
from tests.bench import _fleet_carry
from tests.bench._many_cost import cpu_s
from tests.fixtures import nkey_files
from tests.fixtures.certificates import Authority
from tests.fixtures.fleet_rig import EndpointProcess, Fleet

CALLS = 200
CLIENTS = 8
EACH = 60
ROUNDS = 10
PROCESSES = (1, 2, 3)
_QUICK_CALLS, _QUICK_EACH, _QUICK_WAKES = 40, 10, 100
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
    def arm() -> None:
        client.wait_cancel(client.wait_create(Change(), display=display, timeout_s=600).wait.wait_id)

    return arm


def run(quick: bool = False) -> dict[str, Any]:
    """Measure `wait_result` (of one wait), `wait_list` (of all hosts), a picture of 640x480, and a wait armed and ended
    (three requests to a daemon's store), directly and through the fleet.

    `direct_x_p50`: the median latency of `wait_result` through the fleet by the direct one; `throughput_x`: its calls a
    second by the direct ones. Each is the median over rounds in which both were measured one after the other.
    `carry_1000_x`: see `_fleet_carry`. Quick, one host on one
    server, a round of few calls and wakes, and none of the rest.
    """
    rounds, calls, each = (1, _QUICK_CALLS, _QUICK_EACH) if quick else (ROUNDS, CALLS, EACH)
    hosts, servers = (_HOSTS[:1], 1) if quick else (_HOSTS, 3)
    with tempfile.TemporaryDirectory() as folder, tls_fleet(Path(folder), dict.fromkeys(hosts, ""), servers) as fleet:
        homes = waits_on(fleet)
        found = {"clients": CLIENTS} | _ratios(fleet, homes, rounds, calls, each)
        found |= _processes(fleet, homes["h1"], PROCESSES[1:2] if quick else PROCESSES, rounds, each)
        if not quick:
            found |= _others(fleet, homes)
    found |= _fleet_carry.measured(_QUICK_WAKES if quick else _fleet_carry.WAKES)
    return found if quick else found | _signatures() | _accounts(signed=False) | _accounts(signed=True)


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
        stamp = read_stamp(signer.sign(Signed.REPLY, "acud.req.h1", body))
        found[f"sign_{name}"] = latency_ms(lambda body=body: signer.sign(Signed.REPLY, "acud.req.h1", body))
        found[f"check_{name}"] = latency_ms(
            lambda stamp=stamp, body=body: check_stamp(stamp, signer.key, Signed.REPLY, "acud.req.h1", body)
        )
    return found


def waits_on(fleet: Fleet) -> dict[str, str]:
    waits = [_wait_on(fleet.client, f"bench {n}") for n in range(len(fleet.daemons))]
    return {fleet.client.fleet_place(wait).host: wait for wait in waits}


def _processes(fleet: Fleet, wait: str, counts: tuple[int, ...], rounds: int, each: int) -> dict[str, Any]:
    """Return for endpoints of so many processes, by turns, what clients with a connection each get of them, the CPU of
    all for a request, and the part of it that each process had.
    """
    with ExitStack() as stack:
        endpoints = {count: _started(stack, fleet.another_endpoint(count)) for count in counts}
        asking = {
            count: [_asking(stack, endpoint, wait) for _ in range(CLIENTS)] for count, endpoint in endpoints.items()
        }
        taken: dict[int, list[tuple[float, list[float]]]] = {count: [] for count in counts}
        for _ in range(rounds):
            for count, endpoint in endpoints.items():
                pids = endpoint.client.fleet_hosts().processes
                before = [cpu_s([pid]) for pid in pids]
                rate = per_second(asking[count], each)
                spent = [cpu_s([pid]) - then for pid, then in zip(pids, before, strict=True)]
                taken[count].append((rate, [1000 * one / (CLIENTS * each) for one in spent]))
    return {f"processes_{count}": _processes_row(found) for count, found in taken.items()}


def _started(stack: ExitStack, endpoint: EndpointProcess) -> EndpointProcess:
    stack.callback(endpoint.close)
    endpoint.start()
    return endpoint


def _asking(stack: ExitStack, endpoint: EndpointProcess, wait: str) -> Callable[[], object]:
    client = stack.enter_context(Client(endpoint.paths, fleet=True, timeout_s=60))
    return lambda: client.wait_result(wait)


def _processes_row(found: list[tuple[float, list[float]]]) -> dict[str, Any]:
    each = [round(median(spent), 3) for spent in zip(*(spent for _, spent in found), strict=True)]
    return {"per_s": round(median(rate for rate, _ in found), 1), "cpu_ms": round(sum(each), 3), "cpu_ms_each": each}


def _ratios(fleet: Fleet, homes: dict[str, str], rounds: int, calls: int, each: int) -> dict[str, Any]:
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
        taken.append([latency_ms(way, calls) for way in ways])
        direct = per_second([ways[0]] * CLIENTS, each)
        before = cpu_s([endpoint])
        through = per_second([ways[1]] * CLIENTS, each)
        spent.append(1000 * (cpu_s([endpoint]) - before) / (CLIENTS * each))
        rates.append([direct, through, per_second(spread, each)])
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
    lines = [f"{'':<30} {'median ms':>10} {'p95 ms':>8} {'calls/s, ' + str(figures['clients']) + ' clients':>20}"]
    for name, row in figures.items():
        if isinstance(row, dict):
            cells = (row.get("p50_ms", ""), row.get("p95_ms", ""), row.get("per_s", ""))
            lines.append(f"{name:<30} {cells[0]:>10} {cells[1]:>8} {cells[2]:>20}")
    for name, row in figures.items():
        if name.startswith("processes_"):
            lines.append(f"{name}: {row['cpu_ms']} ms of their CPU a request, by process {row['cpu_ms_each']}")
    ratios = f"{figures['direct_x_p50']} x the direct latency, {figures['throughput_x']} of the direct throughput"
    lines.append(f"wait_result: {ratios}, {figures['endpoint_cpu_ms']} ms of the endpoint's CPU each")
    lines.append(f"1,000 wakes carried: {figures['carry_1000_x']} x the host's own")
    return "\n".join(lines)
