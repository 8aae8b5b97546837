"""The connection to real NATS servers: credentials, servers that go and come back, buckets."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import AsyncExitStack, suppress
from typing import Self

import pytest
from msgspec.structs import replace

from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.protocol import VERSION
from acud.protocol.fleet import HostState
from acud.types import DisplayInfo, DisplayState, WaitInfo, WaitState
from acud_fleet.places import Kind, ObjectInfo, Places
from acud_fleet.registry import Registry
from acud_fleet.state_mirror import read_info
from tests.fixtures.fleet_servers import FleetServers
from tests.fixtures.patience import until_true
from tests.integration.client_replies import wait_info

_ENDPOINTS = 8


async def test_what_is_heard_comes_once_in_order_over_a_server_that_died_and_no_more_after_the_end() -> None:
    """`hear` and `push` build on private parts of the NATS client: this is what they promise of them."""
    heard: list[bytes] = []
    with FleetServers() as nats:
        settings = FleetSettings(url=nats.url)
        async with NatsConnection(settings, "hears") as hears, NatsConnection(settings, "tells") as tells:
            await hears.ready()
            await tells.ready()
            end = await hears.nats.subscribe_directly("told.*", lambda message: heard.append(message.data))
            other = await hears.nats.subscribe("told.*")
            await hears.nats.flush()
            wanted = [str(number).encode() for number in range(200)]
            for data in wanted[:100]:
                await tells.nats.publish("told.a", data, headers={"Some": "header"})
                if data.endswith(b"7"):
                    tells.nats.push()
                    assert tells.nats.pending_data_size == 0
            await until_true(lambda: len(heard) == 100, "what was told")
            nats.servers[0].kill()
            await until_true(lambda: not hears.connected and not tells.connected, "the loss")
            nats.servers[0].start()
            await until_true(lambda: hears.connected and tells.connected, "the server")
            await hears.nats.flush()  # it has the subscription again
            for data in wanted[100:]:
                await tells.nats.publish("told.b", data)
            await until_true(lambda: len(heard) == 200, "what was told after it")
            end()
            await tells.nats.publish("told.c", b"more")
            await until_true(lambda: other.pending_msgs == 201, "what others hear")
    assert heard == wanted


async def test_of_many_who_claim_the_same_at_once_one_wins() -> None:
    """Endpoints with connections of their own: one place on a host, and where a request goes."""
    state = HostState("h1", "x", {}, 0, 9, 0.0, "1", VERSION, time.time())
    with FleetServers(lease_s=600) as nats:
        async with AsyncExitStack() as stack:
            settings = FleetSettings(url=nats.url, lease_s=600)  # a host that says nothing more all the while
            opened = [NatsConnection(settings, f"endpoint {n}") for n in range(_ENDPOINTS)]
            for one in opened:
                await stack.enter_async_context(one)
                await one.ready()
            registries, places = [Registry(one) for one in opened], [Places(one) for one in opened]
            await registries[0].renew(state)
            for number in range(10):
                member = (await registries[0].members())["h1"]
                assert member.state.displays == number
                assert sum(await asyncio.gather(*(one.claim(member) for one in registries))) == 1
                begun = await places[0].find_assigned(f"req-{number}")
                assert begun.host == ""
                found = await asyncio.gather(
                    *(one.assign(f"req-{number}", f"h{n}", begun) for n, one in enumerate(places))
                )
                assert len(set(found)) == 1
                assert await places[1].find_assigned(f"req-{number}") == found[0]


async def test_a_place_is_written_once_for_each_state_whoever_tells_it() -> None:
    wait = wait_info(WaitState.WATCHING)
    ended = wait_info(WaitState.RESOLVED)
    display = DisplayInfo(":1", 1, True, DisplayState.UP)
    with FleetServers() as nats:
        async with NatsConnection(FleetSettings(url=nats.url), "test") as connection:
            await connection.ready()
            mirror, endpoint = Places(connection), Places(connection)

            async def written() -> int:
                return (await connection.streams.stream_info("KV_acud_places")).state.last_seq

            async def told(places: Places, kind: Kind, name: str, info: ObjectInfo) -> int:
                before = await written()
                await places.put("h1", kind, name, info)
                return await written() - before

            both = (told(places, "wait", wait.wait_id, wait) for places in (mirror, endpoint))
            await asyncio.gather(*both)
            assert await written() == 1
            assert await told(mirror, "wait", wait.wait_id, replace(wait, judged=9, remaining_s=1.0, note="x")) == 0
            assert await told(mirror, "wait", wait.wait_id, replace(wait, deadline_utc_s=2000.0)) == 1
            assert await told(mirror, "wait", wait.wait_id, ended) == 1
            assert await told(endpoint, "wait", wait.wait_id, wait) == 0  # its reply was late
            place = await endpoint.one("h1", "wait", wait.wait_id)
            assert place is not None
            assert read_info(place, WaitInfo) == ended
            assert await told(mirror, "display", ":1", display) == 1
            assert await told(mirror, "display", ":1", replace(display, frame=7, frame_age_s=0.1, fps=2.0)) == 0
            await mirror.remove("h1", "display", ":1")
            assert await told(mirror, "display", ":1", display) == 1


pytestmark = pytest.mark.asyncio


class Turning:
    """A server that takes every connection, says the same to each and nothing more."""

    def __init__(self, port: int, words: bytes) -> None:
        self._words = words
        self._door = socket.create_server(("127.0.0.1", port))
        self.taken: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._door.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        for one in (self._door, *self.taken):
            one.close()

    def _serve(self) -> None:
        with suppress(OSError):  # the end
            while True:
                one, _ = self._door.accept()
                one.setblocking(False)
                with suppress(OSError):  # it has hung up already
                    one.sendall(self._words)
                    one.shutdown(socket.SHUT_WR)
                self.taken.append(one)

    def held(self) -> int:
        """Return how many connections the other side has not closed."""
        return sum(not _is_over(one) for one in self.taken)


def _is_over(connection: socket.socket) -> bool:
    try:
        while connection.recv(4096):
            pass
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


@pytest.mark.parametrize("words", [b"", b"no server of this kind\r\n"])
@pytest.mark.parametrize("was_there", [False, True])
async def test_a_server_that_turns_everybody_away_is_not_held_on_to(words: bytes, was_there: bool) -> None:
    with FleetServers() as nats:
        port = nats.servers[0].port
        if not was_there:
            nats.servers[0].kill()
        async with NatsConnection(FleetSettings(url=nats.url), "test") as connection:
            if was_there:
                await connection.ready()
                nats.servers[0].kill()
                await until_true(lambda: not connection.connected, "the loss")
            with Turning(port, words) as turning:
                await until_true(lambda: len(turning.taken) >= 5, "five tries")
                held = turning.held()
    assert held <= 2  # the newest, and the one before it on its way out
