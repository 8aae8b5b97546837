"""Members of a fleet with signatures, and who runs its servers: with every right there, and nobody's seed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import nats
from nats.aio.client import Client as NatsClient

from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.protocol import VERSION
from acud.protocol.fleet import HostState
from acud.protocol.requests.daemon import DoctorReply, Finding
from acud.protocol.requests.wakes import WakeSeenReply
from acud_fleet import access, envelopes
from acud_fleet.envelopes import ReadRequest
from acud_fleet.host_client import HostClient
from acud_fleet.host_server import HostCapacity, HostServer
from acud_fleet.registry import Life, Member
from tests.fixtures import nkey_files
from tests.fixtures.fleet_servers import FleetServers

LEASE_S = 2.0


@contextmanager
def signed_servers(seeds: Path) -> Iterator[FleetServers]:
    """Run a server on which its operator has a user of its own in each member's account."""
    held = nkey_files.grants(seeds)
    extra = nkey_files.with_operators(access.permissions(held))
    admin = {"nkey_seed_file": str(seeds / "ADMIN")}
    with FleetServers(extra=extra, login=admin, grants=held, lease_s=LEASE_S) as running:
        yield running


class Members:
    """Connects members, and the operator as somebody in the account of one."""

    def __init__(self, servers: FleetServers, seeds: Path) -> None:
        assert servers.grants is not None
        self._url, self._seeds, self._admin_key = servers.url, seeds, servers.grants.admin_key()

    def settings(self, user: str, **more: Any) -> FleetSettings:
        own = {"nkey_seed_file": str(self._seeds / user), "admin_key": self._admin_key, "lease_s": LEASE_S}
        return FleetSettings(url=self._url, **(own | more))

    @asynccontextmanager
    async def __call__(self, user: str, inbox: str, **more: Any) -> AsyncIterator[NatsConnection]:
        async with NatsConnection(self.settings(user, **more), user, inbox=inbox) as connection:
            await connection.ready()
            yield connection

    @asynccontextmanager
    async def operator(self, account: str) -> AsyncIterator[NatsClient]:
        client = await nats.connect(self._url, user=account, password="operator")
        try:
            yield client
        finally:
            await client.close()


class Daemon:
    """Stands for a host's daemon. `asked`: how often it was asked; `seen`: wakes that it was told of."""

    def __init__(self) -> None:
        self.asked = 0
        self.seen: list[str] = []

    async def ask(self, asked: ReadRequest, data: bytes) -> bytes:
        self.asked += 1
        return envelopes.answer(asked.request_id, DoctorReply((Finding("home", "ok", "x" * 1000),)))

    async def wake_seen(self, ids: tuple[str, ...]) -> WakeSeenReply:
        self.seen += ids
        return WakeSeenReply(len(ids), ())


class Known:
    """Stands for the roster: every host is up."""

    def find_checked(self, host: str) -> Member:
        return Member(HostState(host, "", {}, 0, 0, 0.0, "", VERSION, 0.0), Life.UP)


@asynccontextmanager
async def running(*work: Any) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def serving(host: NatsConnection, daemon: Any) -> AsyncIterator[None]:
    """Have `daemon` answer as h1, from when requests get there."""
    server = HostServer("h1", host, daemon, HostCapacity("h1", 1, daemon))
    async with running(server.run()):
        await asyncio.sleep(0)
        await host.nats.flush()
        yield


@asynccontextmanager
async def asking(endpoint: NatsConnection) -> AsyncIterator[HostClient]:
    known: Any = Known()
    client = HostClient(endpoint, known)
    await client.open()
    await endpoint.nats.flush()
    yield client
