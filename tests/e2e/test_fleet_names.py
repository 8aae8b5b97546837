"""Two daemons that call themselves the same: one is in the fleet, the other says why it is not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.protocol import codec
from acud.protocol.fleet import HostState
from acud_client import Client
from acud_fleet.registry import Registry
from acud_fleet.streams import Bucket
from tests.e2e.fleet_support import host, joined, over
from tests.fixtures.daemon import Daemon
from tests.fixtures.fleet_rig import CALM_S, LEASE_S, until
from tests.fixtures.fleet_servers import FleetServers

SHORT = {"lease_s": LEASE_S}
TAKEN = "another daemon is host h1 of this fleet"


def state(client: Client) -> str:
    """Return what the daemon says of its place in the fleet."""
    return client.status().fleet["state"]


def kept_out(daemon: Daemon) -> bool:
    """Tell whether the daemon says that its name is taken."""
    return state(daemon.client).startswith(TAKEN)


def holder(servers: FleetSettings) -> HostState | None:
    return over(servers, lambda connection: Registry(connection).holder("h1"))


def has_it(daemon: Daemon, servers: FleetSettings) -> bool:
    """Tell whether the present run of `daemon` has the lease of h1."""
    found = holder(servers)
    return found is not None and found.instance.startswith(f"{daemon.pid}-")


def write_lease(servers: FleetSettings, instance: str) -> None:
    """Be another living host of that name for once."""
    found = holder(servers)
    assert found is not None
    rival = msgspec.structs.replace(found, instance=instance, place="elsewhere", utc_s=time.time())
    over(servers, lambda connection: Registry(connection).renew(rival))


def test_the_second_stays_out_and_comes_in_when_the_first_has_gone(tmp_path: Path) -> None:
    with FleetServers(lease_s=LEASE_S) as nats, host(nats.url, "h1", tmp_path / "a", fleet=SHORT) as first:
        joined(first)
        servers = FleetSettings(url=nats.url, lease_s=LEASE_S)
        until(lambda: has_it(first, servers), "the lease")
        with host(nats.url, "h1", tmp_path / "b", fleet=SHORT) as second:
            until(lambda: kept_out(second), "word that the name is taken")
            assert state(first.client).startswith("connected to ")
            until(lambda: has_it(first, servers), "the lease of the first")
            (found,) = [finding for finding in second.client.doctor().findings if finding.part == "fleet"]
            assert (found.level, found.fix) == ("fault", "give each host a name of its own: [fleet] host")
            first.stop()
            until(lambda: has_it(second, servers), "the name")
            joined(second)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FleetSettings, Daemon]]:
    """A server and one host, whose lease is long enough that what is written meanwhile is read before it runs out."""
    home, fleet = tmp_path_factory.mktemp("calm"), {"lease_s": CALM_S}
    with FleetServers(lease_s=CALM_S) as nats, host(nats.url, "h1", home, fleet=fleet) as daemon:
        yield FleetSettings(url=nats.url, lease_s=CALM_S), daemon


def test_of_two_that_came_at_once_the_younger_gives_way(calm: tuple[FleetSettings, Daemon]) -> None:
    servers, daemon = calm
    until(lambda: has_it(daemon, servers), "the lease")
    write_lease(servers, f"1-{int(time.time() * 1000) + 60_000}")
    until(lambda: has_it(daemon, servers), "the lease, from a younger one")
    assert not kept_out(daemon)

    def is_told() -> bool:
        write_lease(servers, "1-1")  # again: its own next words replace it
        return kept_out(daemon)

    until(is_told, "word that the name is taken by an older one")


@pytest.mark.parametrize("bucket", ["members", "hosts"])
def test_who_writes_under_its_name_is_told_of_and_does_not_keep_it_out(
    calm: tuple[FleetSettings, Daemon], bucket: str
) -> None:
    servers, daemon = calm
    until(lambda: has_it(daemon, servers), "the lease")
    found = holder(servers)
    # In its own name, and so that an endpoint would ask it nothing: it speaks another protocol, and is full.
    forged = msgspec.structs.replace(found, protocol=99, displays=found.room, live_waits=7)

    async def forge(connection: NatsConnection) -> None:
        await Bucket(connection, bucket, ttl_s=CALM_S if bucket == "hosts" else 0.0).put("h1", codec.encode(forged))

    def is_told() -> bool:
        over(servers, forge)  # again: its own next words may replace it unseen
        warning = daemon.client.status().fleet.get("warning", "")
        return f"wrote the entry of host h1 in the bucket {bucket}" in warning

    until(is_told, "word of it")
    (told,) = [one for one in daemon.client.doctor().findings if one.part == "fleet" and one.level == "warning"]
    assert "a key of its own" in told.fix
    until(lambda: not [one for one in _entries(servers).values() if one.protocol == 99], "its own words again")
    assert state(daemon.client).startswith("connected to ")


def _entries(servers: FleetSettings) -> dict[str, HostState]:
    return over(servers, lambda connection: Registry(connection).entries("h1"))
