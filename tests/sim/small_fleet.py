"""What a small real fleet spends and writes: two hosts, an endpoint, three nats-servers with TLS and three copies."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from acud import __version__
from acud.base.errors import Unavailable
from acud.features.fleet.connection import NatsConnection
from acud.protocol import VERSION
from acud.protocol.fleet import HostState
from acud_fleet.registry import Registry
from tests.bench._many_cost import cpu_s
from tests.bench.fleet import arming, per_second, tls_fleet, waits_on
from tests.fixtures.fleet_rig import Fleet

_SETTLE_S = 3.0
"""What a host may take to tell of what changed."""
CLIENTS, EACH, ROUNDS = 8, 60, 5


class PerWait(NamedTuple):
    """What one wait that is armed and ended made."""

    writes: float
    endpoint_ms: float


class Results(NamedTuple):
    """How several clients fared with `wait_result`; `cores`: what all processes had of the machine meanwhile."""

    per_s: float
    endpoint_ms: float
    cpu_ms: float
    cores: float


class SmallFleet:
    """The fleet, and what is read from it. Made by `small_fleet`."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self._wait = waits_on(fleet)["h1"]
        self._display = fleet.client.wait_result(self._wait).wait.display

    def _endpoint(self) -> int:
        assert self.fleet.endpoint.process is not None
        return self.fleet.endpoint.process.pid

    def _processes(self) -> list[int]:
        """Every process of the fleet with their children, but the endpoint and this one."""
        own = [server.process.pid for server in self.fleet.nats.servers if server.process is not None]
        own += [daemon.pid for daemon in self.fleet.daemons.values()]
        return [*own, *(child for pid in own for child in _children(pid))]

    def written(self) -> int:
        """Return how many messages were ever written to streams and buckets, of one copy."""
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, self._written()).result()

    async def _written(self) -> int:
        async with NatsConnection(self.fleet.nats.settings, "reader") as connection:
            await connection.ready()
            found = await connection.streams.streams_info()
        return sum(one.state.last_seq for one in found)

    def lease_writes_per_s(self, seconds: float = 30.0) -> float:
        """Return what a host writes while nobody asks for anything: its leases."""
        before, began = self.written(), time.monotonic()
        time.sleep(seconds)
        messages = self.written() - before
        return messages / (time.monotonic() - began) / len(self.fleet.daemons)

    def per_wait(self, count: int, idle_writes_per_s: float) -> PerWait:
        """Arm and end so many waits, and return what each made beyond what is written anyway."""
        arm = arming(self.fleet.client, self._display)
        arm()
        time.sleep(_SETTLE_S)
        before, began, cpu = self.written(), time.monotonic(), cpu_s([self._endpoint()])
        for _ in range(count):
            arm()
        spent = cpu_s([self._endpoint()]) - cpu
        time.sleep(_SETTLE_S)
        after = self.written()
        idle = idle_writes_per_s * len(self.fleet.daemons) * (time.monotonic() - began)
        return PerWait((after - before - idle) / count, spent * 1000 / count)

    def results(self) -> Results:
        """Return the best of several rounds, as others on the machine only slow it."""
        return max(self._results() for _ in range(ROUNDS))

    def _results(self) -> Results:
        """Have several clients ask for `wait_result` side by side."""
        pids = self._processes()
        before, began = self._spent_s(pids), time.monotonic()
        per_second([lambda: self.fleet.client.wait_result(self._wait)] * CLIENTS, each=EACH)
        seconds, count = time.monotonic() - began, CLIENTS * EACH
        endpoint_s, all_s = (now - then for now, then in zip(self._spent_s(pids), before, strict=True))
        return Results(count / seconds, endpoint_s * 1000 / count, all_s * 1000 / count, all_s / seconds)

    def _spent_s(self, pids: list[int]) -> tuple[float, float]:
        endpoint = cpu_s([self._endpoint()])
        return endpoint, cpu_s(pids) + endpoint + time.process_time()

    def list_share(self, hosts: int, seconds: float = 12.0) -> float:
        """Return what share of a core the endpoint uses while so many hosts renew leases and nobody asks anything."""
        names = [f"paper-{number}" for number in range(hosts)]
        with ThreadPoolExecutor(1) as pool:
            told = pool.submit(asyncio.run, self._renewing(names, seconds))
            time.sleep(_SETTLE_S * 2)
            before, began = cpu_s([self._endpoint()]), time.monotonic()
            time.sleep(seconds)
            share = (cpu_s([self._endpoint()]) - before) / (time.monotonic() - began)
            told.result()
        return share

    async def _renewing(self, names: list[str], seconds: float) -> None:
        """Renew leases of hosts that are on paper alone, three times in a lease as real ones do; then forget them."""
        async with NatsConnection(self.fleet.nats.settings, "paper hosts") as connection:
            await connection.ready()
            registry = Registry(connection)
            every_s, ends = connection.settings.lease_s / 3, time.monotonic() + seconds + 2 * _SETTLE_S
            while names and time.monotonic() < ends:
                for name in names:
                    await registry.renew(_on_paper(name))
                    await asyncio.sleep(every_s / len(names) / 2)
            for name in names:
                try:
                    await registry.forget(name)
                except Unavailable:
                    continue


@contextmanager
def small_fleet() -> Iterator[SmallFleet]:
    with TemporaryDirectory() as folder, tls_fleet(Path(folder), {"h1": "", "h2": ""}) as fleet:
        yield SmallFleet(fleet)


def _on_paper(name: str) -> HostState:
    return HostState(
        host=name,
        instance="1-1",
        labels={},
        displays=0,
        room=0,
        load=0.0,
        version=__version__,
        protocol=VERSION,
        utc_s=time.time(),
    )


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(one) for task in tasks for one in task.read_text(encoding="ascii").split()]
