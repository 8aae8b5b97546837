"""What a fleet keeps when something breaks: a host killed in mid-wait, servers killed, a partition, other versions."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from acud.base import ids
from acud.base.errors import AcudError, Unavailable
from acud.protocol import VERSION, codec
from acud.protocol.fleet import HostState
from acud.types import Answer, Rect, WaitInfo, WaitState
from acud_client import Client
from tests.e2e.desktop import Desk
from tests.e2e.fleet_waits import armed, heard, kill
from tests.fixtures.fleet_rig import CALM_S, LONG_S, Fleet, until


def _paint(fleet: Fleet, wait: WaitInfo) -> None:
    """Change what `wait` looks at, and hold it until the wait has ended."""
    host, _, name = wait.display.partition("/")
    shown = next(one for one in fleet.daemons[host].client.display_list().displays if one.name == name)
    with Desk(name, shown.auth_file) as desk:
        desk.fill(Rect(0, 0, 200, 200), 0xC02020)
        reply = fleet.client.wait_end(wait.wait_id, timeout_s=LONG_S)
    assert reply.wait.state is WaitState.RESOLVED


@contextmanager
def _in_background(work: Callable[[], None]) -> Iterator[None]:
    """Do `work` beside the block, and see what became of it after."""
    faults: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as fault:  # noqa: BLE001 - raised again where it is waited for
            faults.append(fault)

    thread = threading.Thread(target=run)
    thread.start()
    yield
    thread.join(2 * LONG_S)
    assert not thread.is_alive()
    if faults:
        raise faults[0]


def test_a_host_killed_in_mid_wait_is_lost_and_told_and_comes_back() -> None:
    with Fleet({"h1": 'is = "h1"', "h2": 'is = "h2"'}) as fleet:
        client = fleet.client
        lost, other = armed(fleet, "h1"), armed(fleet, "h2")
        with client.events(topic="fleet.") as stream:
            stream.next(timeout_s=0.1)
            kill(fleet, "h1")
            heard(stream, "fleet.lost", "h1")
        found = client.wait_result(lost.wait_id).wait
        assert found.state is WaitState.WATCHING
        assert (found.verdict.answer, found.verdict.code) == (Answer.UNKNOWN, "host_lost")
        assert found.note.startswith("lost(host h1)")
        listed = {wait.wait_id: wait.note for wait in client.wait_list().waits}
        assert listed[lost.wait_id].startswith("lost(host h1)")
        assert listed[other.wait_id] == ""
        notes = {view.task.task_id: view.note for view in client.task_list().tasks}
        assert notes[lost.spec.task_id].startswith("lost(host h1)")
        assert any("host h1 is lost" in words for words in client.status().degraded)
        states = {one.name: one.state.value for one in client.display_list().displays}
        assert states[lost.display] == "down"
        assert states[other.display] == "up"
        with pytest.raises(Unavailable, match="host h1 is lost"):
            client.look(display=lost.display)
        with pytest.raises(Unavailable, match="can't be told whole"):
            client.record_list()
        _paint(fleet, other)

        def bring_back() -> None:
            fleet.daemons["h1"].start()
            until(lambda: fleet.lives()["h1"] == "up", "the host")
            _paint(fleet, lost)

        with _in_background(bring_back):  # somebody blocks for the result meanwhile, and gets it
            assert client.wait_end(lost.wait_id, timeout_s=LONG_S).wait.state is WaitState.RESOLVED


@pytest.fixture(scope="module")
def calm() -> Iterator[Fleet]:
    """Two hosts whose leases outlast what happens to server and endpoint."""
    with Fleet({"h1": 'is = "h1"', "h2": 'is = "h2"'}, lease_s=CALM_S) as fleet:
        yield fleet


def test_the_server_killed_and_back_costs_time_and_nothing_else(calm: Fleet) -> None:
    wait = armed(calm, "h1")
    server = calm.nats.servers[0]
    server.kill()
    until(lambda: _fault(calm.client) == "fleet_down", "the loss")
    until(lambda: "fleet: " in " ".join(calm.daemons["h1"].client.status().degraded), "the daemon's own word")
    server.start()
    until(lambda: _lives(calm) == {"h1": "up", "h2": "up"}, "the hosts")
    assert [event.topic for event in calm.client.events_since(topic="fleet.lost").events] == []
    _paint(calm, wait)


def test_the_endpoint_killed_loses_nothing(calm: Fleet) -> None:
    wait = armed(calm, "h2")
    assert calm.endpoint.process is not None
    calm.endpoint.process.kill()
    calm.endpoint.process.wait()
    calm.endpoint.start()
    assert calm.client.fleet_place(wait.wait_id).host == "h2"
    _paint(calm, wait)


@pytest.mark.long
def test_a_host_of_another_version_is_told_and_not_asked() -> None:
    with Fleet({"h1": ""}) as fleet:
        _claim_to_be(fleet, HostState("h7", "x", {}, 0, 9, 0.0, "9.9.9", VERSION + 1, time.time()))
        until(lambda: fleet.lives().get("h7") == "foreign", "the stranger")
        told = next(one for one in fleet.client.fleet_hosts().hosts if one.host == "h7")
        assert told.reason == f"host h7 (acud 9.9.9) speaks protocol {VERSION + 1}, this side {VERSION}"
        assert fleet.client.display_create(64, 64).display.name.startswith("h1/")
        assert any("h7" in words for words in fleet.client.status().degraded)
        until(lambda: fleet.lives()["h7"] == "lost", "the end of its lease")
        fleet.client.fleet_drain("h7", "forget")
        assert fleet.lives() == {"h1": "up"}


def _claim_to_be(fleet: Fleet, state: HostState) -> None:
    import asyncio

    from acud.config.fleet import FleetSettings
    from acud.features.fleet.connection import NatsConnection
    from acud_fleet.registry import Registry
    from tests.fixtures.fleet_rig import LEASE_S

    async def claim() -> None:
        async with NatsConnection(FleetSettings(url=fleet.nats.url, lease_s=LEASE_S), ids.new_id("test")) as connection:
            await connection.ready()
            await Registry(connection).renew(state)

    assert codec.encode(state)
    asyncio.run(claim())


def _fault(client: Client) -> str:
    try:
        client.fleet_hosts()
    except AcudError as fault:
        return str(fault.facts.get("reason", fault.code))
    return ""


def _lives(fleet: Fleet) -> dict[str, str]:
    try:
        return fleet.lives()
    except Unavailable:
        return {}
