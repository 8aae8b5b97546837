"""Wakes in the fleet's stream, real servers: given out until acknowledged, never twice by id, kept by three."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.protocol.delivery import Deliver, Delivered
from acud.protocol.requests.wakes import WakeCarryReply
from acud.protocol.wakes import SharedWake
from acud.types import RouteName, WakeKind
from acud_fleet import streams
from acud_fleet.events import ID
from acud_fleet.host_wakes import WakeCarrier, WakePublisher, make_shared_wake
from acud_fleet.wakes import AgentWakes, TakenWake
from tests.fixtures import fleet_reader
from tests.fixtures.fleet_proxy import Proxy
from tests.fixtures.fleet_servers import FleetServers, nothing_told
from tests.fixtures.patience import LONG_S

pytestmark = pytest.mark.asyncio


def _delivery(wake_id: str, agent_id: str = "", reminder: int = 0) -> Deliver:
    return Deliver(
        wake_id, 1, RouteName.FLEET, WakeKind.RESOLVED, f"text of {wake_id}", 1.0, agent_id=agent_id, reminder=reminder
    )


async def _sent(publisher: WakePublisher, delivery: Deliver) -> Delivered:
    """Try as the outbox does, until the stream has it."""
    async with asyncio.timeout(LONG_S):
        while (outcome := await publisher.publish_wake(delivery)).result != "sent":
            assert outcome.result == "retry"
            await asyncio.sleep(0.05)
        return outcome


async def _next(wakes: AgentWakes) -> TakenWake:
    taken = await wakes.next(LONG_S)
    assert taken is not None
    return taken


async def test_a_reader_that_is_killed_over_a_wake_leaves_it_to_the_next_with_the_same_id() -> None:
    with FleetServers(ack_wait_s=fleet_reader.ACK_WAIT_S) as nats:
        async with NatsConnection(FleetSettings(url=nats.url), "test") as connection:
            await connection.ready()
            await _sent(WakePublisher("h1", connection, nothing_told), _delivery("wake-1"))
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
    with FleetServers(ack_wait_s=8.0) as nats:
        async with NatsConnection(FleetSettings(url=nats.url), "test") as connection:
            await connection.ready()
            await _sent(WakePublisher("h1", connection, nothing_told), _delivery("wake-1"))
            async with AgentWakes(connection) as slow, AgentWakes(connection) as other:
                taken = await _next(slow)
                assert await other.next(17.0) is None  # more than twice as long as the stream waits
                await taken.ack()
                assert await other.next(8.5) is None


async def test_a_wake_whose_acknowledgement_was_lost_is_heard_twice_by_one_id_and_given_out_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FleetServers() as nats, Proxy(nats.servers[0].port) as wire:
        async with _connected(nats.url) as near, _connected(wire.url) as far:
            heard = await near.nats.subscribe("acud.wake.>")
            publisher = WakePublisher("h1", far, nothing_told)
            await _sent(publisher, _delivery("wake-1"))
            wire.mute()
            with monkeypatch.context() as hasty:
                hasty.setattr(streams, "PUBLISH_S", 0.2)
                assert (await publisher.publish_wake(_delivery("wake-2"))).result == "retry"
            wire.heal()
            await _sent(publisher, _delivery("wake-2"))
            ids = [((await heard.next_msg(LONG_S)).headers or {})[ID] for _ in range(3)]
            assert ids == ["wake-1", "wake-2", "wake-2"]
            # What the servers no longer know again is in the stream twice: a day later, or after they lost their disk.
            body = msgspec.json.encode(make_shared_wake(_delivery("wake-2"), "h1"))
            await near.streams.publish("acud.wake.main.h1", body)
            async with AgentWakes(near) as wakes:
                found = [await _next(wakes), await _next(wakes)]
                assert [taken.wake.id for taken in found] == ["wake-1", "wake-2"]
                assert await wakes.next(1.0) is None
                for taken in found:
                    await taken.ack()
                await near.streams.publish("acud.wake.main.h1", body)
                assert await wakes.next(1.0) is None
            async with AgentWakes(near) as wakes:
                assert await wakes.next(1.0) is None


class _Routes:
    """Takes wakes as a daemon does, and says so once `count` of them are there."""

    def __init__(self, count: int) -> None:
        self._all_there = asyncio.Barrier(count)
        self.taken: list[str] = []

    async def wake_carry(self, wake: SharedWake) -> WakeCarryReply:
        self.taken.append(wake.id)
        await self._all_there.wait()
        return WakeCarryReply("sent", RouteName.WEBHOOK)


async def test_what_a_reader_gives_back_while_it_asks_for_more_reaches_the_next_one() -> None:
    """Its question stands for a while: what went back at once would be the answer to it, and nobody's for long."""
    with FleetServers(ack_wait_s=600.0) as nats:
        async with _connected(nats.url) as connection:
            publisher = WakePublisher("h1", connection, nothing_told)
            ids = ["wake-1", "wake-2"]
            for wake_id in ids:
                await _sent(publisher, _delivery(wake_id))
            async with AgentWakes(connection) as wakes:
                for _ in ids:
                    await _next(wakes)
                asking = asyncio.create_task(wakes.batch(len(ids)))
                async with asyncio.timeout(LONG_S):
                    while not await _asked(connection):  # noqa: ASYNC110 - the servers tell nobody
                        await asyncio.sleep(0.01)
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)
            time.sleep(1.0)  # noqa: ASYNC251 - the process stands still before the servers hear that it listens no more
            async with AgentWakes(connection) as wakes:
                assert sorted([(await _next(wakes)).wake.id for _ in ids]) == ids


async def _asked(connection: NatsConnection) -> int:
    """Return how many questions for wakes stand."""
    return (await connection.streams.consumer_info("ACUD_WAKES", "wakes-main")).num_waiting or 0


async def test_as_many_wakes_are_carried_side_by_side_as_there_are_places_and_the_rest_goes_back() -> None:
    places = 4
    with FleetServers() as nats:
        async with _connected(nats.url) as connection:
            publisher = WakePublisher("h1", connection, nothing_told)
            for number in range(2 * places + 2):
                await _sent(publisher, _delivery(f"wake-{number}"))
            routes = _Routes(places)
            carrier = WakeCarrier("main", connection, routes, places)  # type: ignore[arg-type]
            carrying = asyncio.create_task(carrier.run())
            async with asyncio.timeout(LONG_S):
                while len(routes.taken) < 2 * places + 2 or await _in_hand(connection) > 2:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)  # the last two wait for others
            carrying.cancel()
            await asyncio.gather(carrying, return_exceptions=True)
            assert carrier.carried == 2 * places
            async with AgentWakes(connection) as wakes:
                left = [(await _next(wakes)).wake.id for _ in range(2)]
            assert sorted(left) == sorted(routes.taken[2 * places :])


async def _in_hand(connection: NatsConnection) -> int:
    """Return how many wakes were given out and not acknowledged yet."""
    return (await connection.streams.consumer_info("ACUD_WAKES", "wakes-main")).num_ack_pending or 0


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[NatsConnection]:
    async with NatsConnection(FleetSettings(url=url), "test") as connection:
        await connection.ready()
        yield connection
