"""Three hosts as one, through the endpoint: placing, routing, lists, draining; real NATS, real daemons."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from acud.base import ids
from acud.base.errors import AcudError, Conflict, InvalidRequest, NotFound, Refused, Unavailable
from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.protocol import VERSION
from acud.protocol.fleet import HostState
from acud.protocol.requests.tasks import TaskRegister, TaskReply
from acud.types import Change, Rect, WaitState
from acud_client import Client
from acud_fleet.registry import Registry
from tests.e2e.cli_support import CommandLine
from tests.e2e.desktop import Desk
from tests.e2e.fleet_waits import armed, heard, paint
from tests.e2e.mcp_support import stdio
from tests.fixtures.fleet_rig import CALM_S, LEASE_S, LONG_S, EndpointProcess, Fleet, until


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    """Three hosts, of which one has a graphics card."""
    with Fleet({"h1": 'is = "h1"', "h2": 'is = "h2", gpu = "yes"', "h3": ""}, room=3, lease_s=CALM_S) as running:
        yield running


@pytest.fixture
def client(fleet: Fleet) -> Iterator[Client]:
    """A client of the endpoint; tasks and displays that a test leaves are ended."""
    yield fleet.client
    for view in fleet.client.task_list(limit=200).tasks:
        fleet.client.task_delete(view.task.task_id)
    for display in fleet.client.display_list().displays:
        with contextlib.suppress(NotFound, Conflict):
            fleet.client.display_remove(display.name, force=True)
    for daemon in fleet.daemons.values():
        until(lambda d=daemon: not d.client.display_list().displays, "a host without displays")  # type: ignore[misc]
    empty_s = time.time()
    states = lambda: fleet.client.fleet_hosts().hosts  # noqa: E731
    until(lambda: all(not one.displays and one.last_utc_s > empty_s for one in states()), "hosts that say so")


@pytest.fixture(scope="module")
def other(fleet: Fleet) -> Iterator[Client]:
    """A client of a second endpoint of the same fleet."""
    endpoint = EndpointProcess(fleet.nats.url, lease_s=CALM_S)
    try:
        endpoint.start()
        yield endpoint.client
    finally:
        endpoint.close()


def test_a_task_lands_on_the_host_with_its_labels_and_then_where_there_is_room(fleet: Fleet, client: Client) -> None:
    asked = [client.task_register(f"t{n}", labels={"gpu": "yes"}).view.task for n in range(2)]
    assert {task.display.partition("/")[0] for task in asked} == {"h2"}
    _counted(client, 2)
    others = []
    for n in range(2):
        others.append(client.task_register(f"free {n}").view.task)
        _counted(client, 3 + n)
    assert {task.display.partition("/")[0] for task in others} == {"h1", "h3"}  # h2 has the least room by now
    there = fleet.daemons["h2"].client.task_list().tasks
    assert {view.task.task_id for view in there} == {task.task_id for task in asked}
    assert client.fleet_place(asked[0].task_id).host == "h2"
    with pytest.raises(Refused, match="not labelled site=moon"):
        client.task_register("nowhere", labels={"site": "moon"})


def test_a_wait_resolves_and_its_result_is_fetched_through_the_endpoint(client: Client) -> None:
    made = client.display_create(320, 240).display
    assert made.name[:1] == "h"
    token = client.baseline(display=made.name).baseline
    assert token.startswith(made.name)
    wait = client.wait_create(Change(baseline=token), display=made.name, timeout_s=60).wait
    assert wait.display == made.name
    assert client.wait_result(wait.wait_id).wait.state is WaitState.WATCHING
    with Desk(made.name.partition("/")[2], made.auth_file) as desk:
        desk.fill(Rect(0, 0, 100, 100), 0xC02020)
        reply = client.wait_result(wait.wait_id, block_s=60)
    assert reply.wait.state is WaitState.RESOLVED
    picture = client.look(display=made.name)
    assert picture.display == made.name
    assert picture.view.startswith(made.name)
    assert len(client.evidence(wait.wait_id).image) > 100


def test_lists_are_of_all_hosts_and_ids_may_be_cut_short(fleet: Fleet, client: Client) -> None:
    tasks = []
    for n in range(3):
        tasks.append(client.task_register(f"listed {n}").view.task)
        _counted(client, n + 1)
    for task in tasks:
        client.wait_create(Change(), task_id=task.task_id, timeout_s=60)
    assert {task.display.partition("/")[0] for task in tasks} == {"h1", "h2", "h3"}
    assert {view.task.task_id for view in client.task_list().tasks} == {task.task_id for task in tasks}
    assert {wait.spec.task_id for wait in client.wait_list().waits} == {task.task_id for task in tasks}
    only = [view.task.task_id for view in client.task_list(displays=[tasks[0].display]).tasks]
    assert only == [tasks[0].task_id]
    status = client.status()
    assert status.waits_live == 3
    assert status.fleet == {"h1": "up", "h2": "up", "h3": "up"}
    # Made on its host, not through the endpoint, and named by the beginning of its id.
    direct = fleet.daemons["h1"].client.task_register("direct").view.task
    assert client.task_thread(direct.task_id[:-1]).task_id == direct.task_id
    with pytest.raises(NotFound, match="no host of the fleet knows task"):
        client.task_thread("task-00000000000000000000000")


def test_a_request_for_no_host_in_particular_says_what_it_wants(client: Client) -> None:
    with pytest.raises(InvalidRequest, match="names none of h1, h2, h3"):
        client.look()
    with pytest.raises(NotFound, match="no host 'h9'"):
        client.look(display="h9/:100")
    with pytest.raises(Refused, match="not taken over the fleet"):
        client.web_token_list()


def test_the_same_request_again_starts_nothing_twice(client: Client) -> None:
    first = client.ask(TaskRegister("once"), TaskReply, request_id="req-once-1")
    again = client.ask(TaskRegister("once"), TaskReply, request_id="req-once-1")
    assert again.view.task.task_id == first.view.task.task_id
    assert len(client.task_list().tasks) == 1


def test_the_same_request_through_two_endpoints_at_once_starts_one_thing(
    client: Client, other: Client, fleet: Fleet
) -> None:
    for number in range(2):
        asked = _at_once(client, other, [f"req-both-{number}"] * 2)
        assert len({reply.view.task.task_id for reply in asked if isinstance(reply, TaskReply)}) == 1, asked
    there = {host: len(daemon.client.task_list().tasks) for host, daemon in fleet.daemons.items()}
    assert sum(there.values()) == 2, there
    assert len(client.task_list().tasks) == 2


def test_two_endpoints_want_the_last_place_and_one_gets_it(client: Client, other: Client) -> None:
    for _ in range(8):
        client.display_create(64, 64)
    asked = _at_once(client, other, ["req-last-1", "req-last-2"])
    assert sorted(type(one).__name__ for one in asked) == ["Refused", "TaskReply"], asked
    assert len(client.task_list().tasks) == 1
    _counted(client, 9)


def _counted(client: Client, displays: int) -> None:
    """Return once the hosts say so: until then a place that was claimed may be taken for a free one, and be refused."""
    until(lambda: sum(one.displays for one in client.fleet_hosts().hosts) == displays, f"{displays} displays")


def _at_once(one: Client, other: Client, ids: list[str]) -> list[TaskReply | Refused]:
    """Ask both endpoints at the same moment for a task of a place, the ids theirs; return both replies."""
    together = threading.Barrier(2)

    def ask(client: Client, request_id: str) -> TaskReply | Refused:
        together.wait(60)
        try:
            return client.ask(TaskRegister("claimed"), TaskReply, request_id=request_id)
        except Refused as fault:
            return fault

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(ask, (one, other), ids))


def test_a_drained_host_takes_nothing_new_and_a_full_fleet_refuses(client: Client) -> None:
    client.fleet_drain("h1")
    try:
        made = [client.display_create(64, 64).display.name for _ in range(6)]
        assert {name.partition("/")[0] for name in made} == {"h2", "h3"}
        _counted(client, 6)
        with pytest.raises(Refused) as caught:
            client.display_create(64, 64)
        assert "h1: is being drained" in caught.value.message
        assert "h2: full: 3 displays of 3" in caught.value.message
    finally:
        client.fleet_drain("h1", "resume")
    with pytest.raises(Conflict, match="host h1 lives"):
        client.fleet_drain("h1", "forget")


def test_events_of_all_hosts_come_through_the_endpoint(client: Client) -> None:
    with client.events(topic="task.") as stream:
        stream.next(timeout_s=0.1)
        task = client.task_register("told").view.task
        event = heard(stream, "task.registered", task.task_id)
        assert event.data["host"] == task.display.partition("/")[0]


def test_the_command_line_speaks_to_the_endpoint(fleet: Fleet, client: Client) -> None:
    task = client.task_register("by command line").view.task
    acud = CommandLine(fleet.endpoint.home)
    listed = acud.json("--fleet", "task", "list")
    assert [view["task"]["task_id"] for view in listed["tasks"]] == [task.task_id]
    hosts = acud.json("fleet", "hosts")
    assert [one["host"] for one in hosts["hosts"]] == ["h1", "h2", "h3"]
    assert acud.json("fleet", "place", task.task_id)["host"] == task.display.partition("/")[0]
    assert acud.json("fleet", "status")["endpoint"]["hosts"] == {"h1": "up", "h2": "up", "h3": "up"}


def test_the_mcp_server_speaks_to_the_endpoint(fleet: Fleet, client: Client) -> None:
    task = client.task_register("by mcp").view.task

    async def ask() -> str:
        async with stdio(fleet.endpoint.home, "--fleet") as speaking:
            reply = await speaking.call_tool("task_list", {})
            return "".join(getattr(part, "text", "") for part in reply.content)

    assert task.task_id in asyncio.run(ask())


# ---- what breaks ----------------------------------------------------------------------------------------------------


def test_the_server_killed_and_back_costs_time_and_nothing_else(fleet: Fleet, client: Client) -> None:
    wait = armed(fleet, "h1")
    server = fleet.nats.servers[0]
    server.kill()
    until(lambda: _fault(client) == "fleet_down", "the loss")
    until(lambda: "fleet: " in " ".join(fleet.daemons["h1"].client.status().degraded), "the daemon's own word")
    server.start()
    until(lambda: _lives(fleet) == dict.fromkeys(fleet.daemons, "up"), "the hosts")
    assert [event.topic for event in client.events_since(topic="fleet.lost").events] == []
    paint(fleet, wait)
    assert client.wait_end(wait.wait_id, timeout_s=LONG_S).wait.state is WaitState.RESOLVED


def test_the_endpoint_killed_loses_nothing(fleet: Fleet, client: Client) -> None:
    wait = armed(fleet, "h2")
    fleet.endpoint.process.kill()
    fleet.endpoint.process.wait()
    fleet.endpoint.start()
    assert client.fleet_place(wait.wait_id).host == "h2"
    paint(fleet, wait)
    assert client.wait_end(wait.wait_id, timeout_s=LONG_S).wait.state is WaitState.RESOLVED


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
    async def claim() -> None:
        async with NatsConnection(FleetSettings(url=fleet.nats.url, lease_s=LEASE_S), ids.new_id("test")) as connection:
            await connection.ready()
            await Registry(connection).renew(state)

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
