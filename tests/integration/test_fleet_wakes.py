"""Wakes in the fleet's stream, real servers: given out until acknowledged, never twice by id, kept by three."""

from __future__ import annotations

import asyncio

import pytest

from acud.features.fleet.connection import NatsConnection
from acud.fleet import FleetSettings
from acud.protocol.delivery import Deliver, Delivered
from acud.types import RouteName, WakeKind
from acud_fleet import streams
from acud_fleet.host_wakes import WakePublisher
from acud_fleet.wakes import AgentWakes, TakenWake
from tests import fleet_reader
from tests.fleet_servers import FleetServers
from tests.nats_servers import NatsServer

_LONG_S = 60.0
pytestmark = pytest.mark.asyncio


def _delivery(wake_id: str, agent_id: str = "", reminder: int = 0) -> Deliver:
    return Deliver(
        wake_id, 1, RouteName.FLEET, WakeKind.RESOLVED, f"text of {wake_id}", 1.0, agent_id=agent_id, reminder=reminder
    )


async def _sent(publisher: WakePublisher, delivery: Deliver) -> Delivered:
    """Try as the outbox does, until the stream has it."""
    async with asyncio.timeout(_LONG_S):
        while (outcome := await publisher.bring(delivery)).result != "sent":
            assert outcome.result == "retry"
            await asyncio.sleep(0.05)
        return outcome


async def _next(wakes: AgentWakes) -> TakenWake:
    taken = await wakes.next(_LONG_S)
    assert taken is not None
    return taken


async def test_a_wake_is_kept_for_its_agent_and_given_out_once() -> None:
    with FleetServers() as nats:
        async with NatsConnection(FleetSettings(url=nats.url), "test") as connection:
            await connection.ready()
            publisher = WakePublisher("h1", connection)
            await _sent(publisher, _delivery("wake-1", "an.agent"))
            await _sent(publisher, _delivery("wake-2"))
            await _sent(publisher, _delivery("wake-1", "an.agent"))
            await _sent(publisher, _delivery("wake-1", "an.agent", reminder=1))
            async with AgentWakes(connection, "an.agent") as wakes:
                taken = await _next(wakes)
                assert (taken.wake.id, taken.wake.host, taken.wake.text) == ("wake-1", "h1", "text of wake-1")
                await taken.ack()
                await taken.ack()
                assert await wakes.next(1.0) is None
            async with AgentWakes(connection, "an.agent") as wakes:
                assert await wakes.next(1.0) is None
            async with AgentWakes(connection) as wakes:
                assert (await _next(wakes)).wake.id == "wake-2"


async def test_what_a_reader_did_not_acknowledge_goes_back_at_its_end() -> None:
    with FleetServers() as nats:
        async with NatsConnection(FleetSettings(url=nats.url), "test") as connection:
            await connection.ready()
            await _sent(WakePublisher("h1", connection), _delivery("wake-1"))
            async with AgentWakes(connection) as wakes:
                assert (await _next(wakes)).deliveries == 1
            async with AgentWakes(connection) as wakes:
                taken = await _next(wakes)
                assert (taken.wake.id, taken.deliveries) == ("wake-1", 2)


async def test_a_reader_that_is_killed_over_a_wake_leaves_it_to_the_next_with_the_same_id() -> None:
    with FleetServers(ack_wait_s=fleet_reader.ACK_WAIT_S) as nats:
        async with NatsConnection(FleetSettings(url=nats.url), "test") as connection:
            await connection.ready()
            await _sent(WakePublisher("h1", connection), _delivery("wake-1"))
            first = fleet_reader.start(nats.url, "main", "keep")
            assert first.stdout is not None
            with first:
                assert await asyncio.to_thread(first.stdout.readline) == "wake-1 1\n"
                first.kill()
            second = fleet_reader.start(nats.url, "main", "ack")
            assert second.stdout is not None
            with second:
                said = await asyncio.to_thread(second.stdout.readline)
                second.kill()
            # nats-server 2.9.10 may begin its count of deliveries anew when the dead reader had another request open.
            assert said.split()[0] == "wake-1"


async def test_a_living_reader_keeps_its_wake_as_long_as_it_likes() -> None:
    with FleetServers(ack_wait_s=4.0) as nats:
        async with NatsConnection(FleetSettings(url=nats.url), "test") as connection:
            await connection.ready()
            await _sent(WakePublisher("h1", connection), _delivery("wake-1"))
            async with AgentWakes(connection) as slow, AgentWakes(connection) as other:
                taken = await _next(slow)
                assert await other.next(9.0) is None  # more than twice as long as the stream waits
                await taken.ack()
                assert await other.next(4.5) is None


async def test_servers_that_are_away_are_waited_for() -> None:
    with FleetServers() as nats:
        async with NatsConnection(FleetSettings(url=nats.url), "test") as connection:
            await connection.ready()
            publisher = WakePublisher("h1", connection)
            await _sent(publisher, _delivery("wake-1"))
            nats.servers[0].kill()
            failed = await publisher.bring(_delivery("wake-2"))
            assert failed.result == "retry"
            async with asyncio.timeout(_LONG_S):
                while connection.connected:  # noqa: ASYNC110 - another process's doing
                    await asyncio.sleep(0.02)
            assert "no NATS server of the fleet answers" in (await publisher.bring(_delivery("wake-2"))).reason
            nats.servers[0].start()
            await _sent(publisher, _delivery("wake-2"))
            async with AgentWakes(connection) as wakes:
                found = [await _next(wakes), await _next(wakes)]
                assert [taken.wake.id for taken in found] == ["wake-1", "wake-2"]
                assert await wakes.next(1.0) is None


@pytest.mark.long
@pytest.mark.timeout(180)
async def test_the_leader_of_three_dies_and_every_wake_comes_once() -> None:
    count = 300
    ids = {f"wake-{number:03}" for number in range(count)}
    with FleetServers(3) as nats:
        async with NatsConnection(FleetSettings(url=nats.url, replicas=3), "test") as connection:
            await connection.ready()
            publisher = WakePublisher("h1", connection)
            await _sent(publisher, _delivery("wake-000"))
            for number in range(1, count):
                if number == count // 3:
                    (await _leader(nats, connection)).kill()
                await _sent(publisher, _delivery(f"wake-{number:03}"))
                if number % 10 == 0:  # nobody knows whether the first arrived: as after a kill of the host
                    await _sent(publisher, _delivery(f"wake-{number:03}"))
            found: list[str] = []
            async with AgentWakes(connection) as wakes:
                while len(found) < count:
                    taken = await _next(wakes)
                    found.append(taken.wake.id)
                    await taken.ack()
                assert await wakes.next(2.0) is None
            assert len(found) == count
            assert set(found) == ids


async def _leader(nats: FleetServers, connection: NatsConnection) -> NatsServer:
    info = await connection.streams.stream_info(streams.wakes(connection.names).name)
    assert info.config.num_replicas == 3
    assert info.cluster is not None
    (leader,) = [server for server in nats.servers if server.name == info.cluster.leader]
    return leader
