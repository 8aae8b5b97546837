"""The shorter way to a host: over a connection to its own server, which may die and come back."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from nats.aio.msg import Msg

from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.protocol import VERSION
from acud.protocol.fleet import HostState
from acud.protocol.requests.daemon import Doctor, DoctorReply
from acud_fleet import envelopes
from acud_fleet.host_client import HostClient
from acud_fleet.near_connections import AnswerInbox, NearConnections
from acud_fleet.registry import Life, Member
from tests.fixtures.fleet_servers import FleetServers
from tests.fixtures.nats_servers import Nats, NatsServer
from tests.fixtures.patience import LONG_S, until_true

pytestmark = pytest.mark.asyncio


async def test_a_host_is_asked_over_its_own_server_as_long_as_that_lives() -> None:
    heard: list[bytes] = []
    with FleetServers(3) as nats:
        places = [server.url.removeprefix("nats://") for server in nats.servers]
        async with NatsConnection(FleetSettings(url=nats.url), "main") as main:
            await main.ready()
            near = NearConnections(main, lambda message: heard.append(message.data))
            running = asyncio.create_task(near.run())
            own = places.index(main.server)
            its = (own + 1) % 3
            assert near.to(places[own]) is None  # no way is shorter
            assert near.to("") is None
            assert near.to("192.0.2.1:4222") is None  # no server of ours, whoever says so
            async with NatsConnection(FleetSettings(url=nats.servers[its].url), "host") as host:
                await host.ready()

                async def answer(message: Msg) -> None:
                    await host.nats.publish(message.reply, message.data)

                await host.nats.subscribe("question", cb=answer)
                await host.nats.flush()
                inbox = await _found(near, places[its])
                assert inbox.connection.server == host.server == places[its]
                await inbox.connection.nats.publish("question", b"1", reply=f"{inbox.subject}.1")
                await until_true(lambda: heard == [b"1"])
            nats.servers[its].kill()
            await until_true(lambda: near.to(places[its]) is None)
            nats.servers[its].start()
            inbox = await _found(near, places[its])
            assert inbox.connection.server == places[its]
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def _found(near: NearConnections, place: str) -> AnswerInbox:
    await until_true(lambda: near.to(place))
    found = near.to(place)
    assert found is not None
    return found


class Known:
    """Stands for the roster: the host h1 is up, and said that it is connected to `server`."""

    def __init__(self, server: str) -> None:
        self._server = server

    def find_checked(self, host: str) -> Member:
        return Member(HostState(host, "", {}, 0, 0, 0.0, "", VERSION, 0.0, server=self._server), Life.UP)


async def test_a_server_that_does_not_find_the_others_says_nothing_about_a_host(tmp_path: Path) -> None:
    """Two that know nothing of each other: the host is at the one, and said to be at the other."""
    with Nats() as nats, ExitStack() as stack:
        other = NatsServer(tmp_path, "other")
        both = FleetSettings(url=f"{nats.url},{other.url}")
        async with NatsConnection(both, "main") as main, NatsConnection(FleetSettings(url=nats.url), "host") as host:
            await main.ready()  # at the only one that is up
            await host.ready()
            stack.callback(other.kill)
            other.start()

            async def answer(message: Msg) -> None:
                request_id = envelopes.id_in(message.data)
                await host.nats.publish(message.reply, envelopes.answer(request_id, DoctorReply(())))

            await host.nats.subscribe("acud.req.h1", cb=answer)
            await host.nats.flush()
            place = other.url.removeprefix("nats://")
            known: Any = Known(place)
            client = HostClient(main, known)
            await client.open()
            running = asyncio.create_task(client.run())
            asked = [await client.ask("h1", Doctor(), f"req-{number}", LONG_S) for number in range(3)]
            await until_true(lambda: client.near.to(place))
            asked.append(await client.ask("h1", Doctor(), "req-near", LONG_S))
            assert asked == [DoctorReply(())] * 4
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
