"""Everything that a fleet promises, on one: three hosts, three servers, and all that may break breaks meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from acud.base.errors import Unavailable
from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.protocol.events import Event
from acud.types import Criteria, WaitInfo, WaitState
from tests.e2e import faults
from tests.e2e.fleet_support import over, settled, stored, taken
from tests.e2e.fleet_waits import Users, armed, kill, paint
from tests.fixtures.fleet_rig import LONG_S, Fleet, until
from tests.fixtures.nats_servers import NatsServer
from tests.fixtures.wire import Wire
from tests.integration.jobs_rig import Worker

HOSTS = ("h1", "h2", "h3")
MORE = """[vision]
backends = ["fleet"]
[wake]
routes = ["fleet"]
retry_first_s = 0.1
retry_max_s = 1.0
[jobs]
ack_wait_s = 2
"""


@pytest.mark.long
@pytest.mark.timeout(400)
def test_three_hosts_on_three_servers_outlive_worker_host_leader_and_wire(wire: Wire, tmp_path: Path) -> None:
    users = Users(tmp_path, *HOSTS, "endpoint", "worker")
    with Fleet(
        {host: f'is = "{host}"' for host in HOSTS},
        servers=3,
        extra=users.config,
        jobs={"ack_wait_s": 2},
        admin={"nkey_seed_file": users.seed("endpoint")},
        more=MORE,
        login_of=users.login,
        prefix_of=lambda host: wire.prefix if host == "h3" else (),
        address=wire.address,
    ) as fleet:
        servers = FleetSettings(url=fleet.nats.url, nkey_seed_file=users.seed("endpoint"), replicas=3)
        judged = _judged_although_its_worker_is_killed(fleet, users, tmp_path)
        killed, calm, cut = armed(fleet, "h1"), armed(fleet, "h2"), armed(fleet, "h3")

        kill(fleet, "h1")
        wire.cut()
        until(lambda: [fleet.lives()[host] for host in HOSTS] == ["lost", "up", "lost"], "the loss of two")
        for wait in (killed, cut):
            found = fleet.client.wait_result(wait.wait_id).wait
            assert (found.state, found.verdict.code) == (WaitState.WATCHING, "host_lost")
        paint(fleet, cut)  # behind the wire its host goes on

        leader = over(servers, lambda connection: _leader(fleet, connection))
        leader.kill()
        paint(fleet, calm)
        _ended(fleet, calm)

        wire.heal()
        fleet.daemons["h1"].start()
        until(lambda: _lives(fleet) == dict.fromkeys(HOSTS, "up"), "all hosts")
        paint(fleet, killed)
        _ended(fleet, killed)
        _ended(fleet, cut)
        leader.start()

        _every_wake_once(fleet, servers, [judged, killed, calm, cut])
        for host in HOSTS:
            settled(fleet.daemons[host], servers, host)
            told = [item for _, item in stored(servers, host) if isinstance(item, Event)]
            assert told == faults.events(fleet.daemons[host])[: len(told)]
            assert [event.n for event in told] == list(range(1, len(told) + 1))


def _judged_although_its_worker_is_killed(fleet: Fleet, users: Users, folder: Path) -> WaitInfo:
    """Return a wait that a second worker judged, the first being killed over it."""
    url, login = fleet.nats.url, users.login("worker") + "replicas = 3\n"
    with Worker(folder / "a", url, {"fault": "hang"}, login=login) as first:
        asyncio.run(_ready(first))
        wait = armed(fleet, "h2", Criteria("a lamp is lit"))
        asyncio.run(first.took())
        first.kill()
        with Worker(folder / "b", url, {"default": "yes"}, login=login) as second:
            _ended(fleet, wait)
            asyncio.run(_closed(second))
            figures = second.figures()
            assert (figures["redelivered"] >= 1, figures["answers"] >= 1) == (True, True), figures
    return wait


async def _ready(worker: Worker) -> None:
    await worker.ready()


async def _closed(worker: Worker) -> None:
    worker.end()
    assert await worker.ended() == 0


def _ended(fleet: Fleet, wait: WaitInfo) -> None:
    """Return once the endpoint says that it is resolved. Nobody blocks for it: its wake goes to the stream."""

    def is_resolved() -> bool:
        try:
            return fleet.client.wait_show(wait.wait_id).wait.state is WaitState.RESOLVED
        except Unavailable:
            return False

    until(is_resolved, f"the end of {wait.wait_id}", 2 * LONG_S)


def _lives(fleet: Fleet) -> dict[str, str]:
    try:
        return fleet.lives()
    except Unavailable:
        return {}


async def _leader(fleet: Fleet, connection: NatsConnection) -> NatsServer:
    """Return the server that leads the stream of wakes; the streams are on three."""
    for name in ("ACUD_WAKES", "ACUD_EVENTS", "ACUD_JOBS", "KV_acud_hosts", "KV_acud_places"):
        info = await connection.streams.stream_info(name)
        assert info.config.num_replicas == 3, name
    info = await connection.streams.stream_info("ACUD_WAKES")
    assert info.cluster is not None
    return next(server for server in fleet.nats.servers if server.name == info.cluster.leader)


def _every_wake_once(fleet: Fleet, servers: FleetSettings, waits: list[WaitInfo]) -> None:
    ids = []
    for wait in waits:
        daemon = fleet.daemons[wait.display.partition("/")[0]]
        (wake,) = daemon.client.wake_list(wait_id=wait.wait_id, seen=True).wakes
        faults.event(daemon, "wake.sent", wake.wake_id)
        ids.append(wake.wake_id)
    assert sorted(taken(servers, len(waits))) == sorted(ids)
    for wait, wake_id in zip(waits, ids, strict=True):
        faults.event(fleet.daemons[wait.display.partition("/")[0]], "wake.seen", wake_id)
