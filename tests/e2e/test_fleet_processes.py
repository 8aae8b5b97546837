"""An endpoint of three processes at one socket: any of them answers anything, and none is missed when it is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

import pytest

from acud.base.errors import Refused
from acud.types import Change, WaitState
from acud_client import Client
from tests.e2e.fleet_waits import armed, heard
from tests.e2e.notified_systemd import notified
from tests.fixtures.fleet_rig import CALM_S, LONG_S, EndpointProcess, Fleet, until

PROCESSES = 3
CLIENTS = 9
Found = TypeVar("Found")


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    with Fleet({"h1": 'is = "h1"', "h2": 'is = "h2"'}, lease_s=CALM_S, room=16, processes=PROCESSES) as running:
        yield running


@pytest.fixture
def clients(fleet: Fleet) -> Iterator[list[Client]]:
    """Clients with a connection each; tasks that a test leaves are ended."""
    with ExitStack() as stack:
        made = [
            stack.enter_context(Client(fleet.endpoint.paths, fleet=True, timeout_s=60, patience_s=30))
            for _ in range(CLIENTS)
        ]
        yield made
        for view in fleet.client.task_list(limit=200).tasks:
            fleet.client.task_delete(view.task.task_id)


def _pids(fleet: Fleet) -> tuple[int, ...]:
    return fleet.client.fleet_hosts().processes


def _each(clients: list[Client], ask: Callable[[Client], Found]) -> list[Found]:
    """Return what all are answered, asking side by side."""
    with ThreadPoolExecutor(len(clients)) as pool:
        return list(pool.map(ask, clients))


def test_each_process_is_given_its_part_of_the_connections(fleet: Fleet) -> None:
    pids = _pids(fleet)
    before = [_open(pid) for pid in pids]
    with ExitStack() as stack:

        def each_has_more() -> bool:
            made = Client(fleet.endpoint.paths, fleet=True, timeout_s=60)
            stack.callback(made.close)
            made.fleet_hosts()
            return all(_open(pid) > then for pid, then in zip(pids, before, strict=True))

        until(each_has_more, "a connection of each process")  # those of tests before may end meanwhile


def _open(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def test_whoever_takes_a_connection_answers_every_kind_of_request(fleet: Fleet, clients: list[Client]) -> None:
    wait = armed(fleet, "h1")
    first = fleet.endpoint.process
    pids = _pids(fleet)
    assert (len(set(pids)), pids[0]) == (PROCESSES, first.pid)
    assert {one.fleet_hosts().processes for one in clients} == {pids}  # of the endpoint
    assert {one.status().pid for one in clients} == {first.pid}
    assert {one.fleet_place(wait.wait_id).host for one in clients} == {"h1"}
    assert {one.wait_result(wait.wait_id).wait.wait_id for one in clients} == {wait.wait_id}  # of a host
    assert {one.look(display=wait.display).display for one in clients} == {wait.display}
    tokens = [one.baseline(display=wait.display).baseline for one in clients]
    more = [
        one.wait_create(Change(baseline=token), display=wait.display, timeout_s=600).wait.wait_id
        for one, token in zip(clients, tokens, strict=True)
    ]
    listed = [{one.wait_id for one in client.wait_list().waits} for client in clients]  # of all hosts
    assert all(found >= {wait.wait_id, *more} for found in listed)
    newest = [client.events_since(0, limit=1).newest for client in clients]
    assert newest == sorted(newest)


def test_what_is_placed_is_placed_once_and_on_no_host_that_drains(fleet: Fleet, clients: list[Client]) -> None:
    clients[0].fleet_drain("h1")
    made = _each(clients, lambda one: one.task_register("placed").view.task)
    clients[-1].fleet_drain("h1", "resume")
    until(lambda: _takes(clients[0], "h1"), "h1 has read that it is resumed")
    assert {task.display.partition("/")[0] for task in made} == {"h2"}
    found = {view.task.task_id for view in clients[1].task_list().tasks if view.task.name == "placed"}
    assert found == {task.task_id for task in made}


def _takes(client: Client, host: str) -> bool:
    try:
        client.task_register("taken", labels={"is": host})
    except Refused:
        return False
    return True


def test_whoever_blocks_is_told_the_end_and_events_come_once_in_order(fleet: Fleet, clients: list[Client]) -> None:
    waits = [armed(fleet, "h1"), armed(fleet, "h2")]
    with ExitStack() as stack:
        streams = [stack.enter_context(one.events(topic="wait.cancelled")) for one in clients]
        for stream in streams:
            stream.next(timeout_s=0.1)
        with ThreadPoolExecutor(2 * CLIENTS) as pool:
            blocked = [pool.submit(one.wait_result, wait.wait_id, block_s=LONG_S) for one in clients for wait in waits]
            for wait in waits:
                fleet.client.wait_cancel(wait.wait_id)
            assert {one.result().wait.state for one in blocked} == {WaitState.CANCELLED}
        told = [[heard(stream, "wait.cancelled", wait.wait_id).n for wait in waits] for stream in streams]
    assert {tuple(numbers) for numbers in told} == {tuple(sorted(told[0]))}
    found = [one.events_since(told[0][0] - 1, topic="wait.cancelled").events for one in clients]
    assert {tuple(event.subject for event in events) for events in found} == {tuple(wait.wait_id for wait in waits)}


def test_processes_that_are_killed_lose_nobody_anything_and_are_started_again(
    fleet: Fleet, clients: list[Client]
) -> None:
    wait = armed(fleet, "h2")
    asking = True

    def ask(client: Client) -> int:
        count = 0
        while asking:
            assert client.wait_result(wait.wait_id).wait.wait_id == wait.wait_id
            count += 1
        return count

    with ThreadPoolExecutor(3 * CLIENTS) as pool:
        asked = [pool.submit(ask, one) for one in clients]
        blocked = [pool.submit(one.wait_result, wait.wait_id, block_s=LONG_S) for one in clients]
        placed = [pool.submit(one.task_register, f"under fire {n}") for n, one in enumerate(clients)]
        for _ in range(2):
            _, *further = _pids(fleet)
            for pid in further:
                os.kill(pid, signal.SIGKILL)
                until(lambda pid=pid: pid not in _pids(fleet), f"the end of {pid} is seen")  # type: ignore[misc]
            until(lambda: len(_pids(fleet)) == PROCESSES, "the processes that were killed")
        fleet.client.wait_cancel(wait.wait_id)
        assert {one.result().wait.state for one in blocked} == {WaitState.CANCELLED}
        asking = False
        assert min(one.result() for one in asked) > 0
        tasks = [one.result().view.task.task_id for one in placed]
    there = [view.task for view in fleet.client.task_list(limit=200).tasks]
    assert sorted(task.task_id for task in there if task.name.startswith("under fire")) == sorted(tasks)
    assert '"2 of the endpoint\'s 3 processes serve"' in fleet.endpoint.log()
    assert not [one for one in fleet.client.doctor().findings if "processes serve" in one.text]


def test_a_process_that_hangs_is_killed_and_started_again(fleet: Fleet, clients: list[Client]) -> None:
    wait = armed(fleet, "h2")
    hung = _pids(fleet)[1]
    os.kill(hung, signal.SIGSTOP)
    assert {one.wait_id for one in _each(clients, lambda one: one.wait_result(wait.wait_id).wait)} == {wait.wait_id}
    until(lambda: len(pids := _pids(fleet)) == PROCESSES and hung not in pids, "another process in its place")
    assert f'"pid":{hung}' in next(line for line in fleet.endpoint.log().splitlines() if "fleet.process_hung" in line)


def test_systemd_is_told_that_it_answers_lives_and_ends(fleet: Fleet, tmp_path: Path) -> None:
    endpoint = EndpointProcess(fleet.nats.url, lease_s=CALM_S, processes=2)
    with ExitStack() as stack:
        stack.callback(endpoint.close)
        systemd = stack.enter_context(notified(tmp_path))
        endpoint.env |= {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "200000"}
        endpoint.start()
        assert systemd.next().startswith(b"READY=1\n")
        assert [systemd.next() for _ in range(3)] == [b"WATCHDOG=1"] * 3
        endpoint.stop()
        while (said := systemd.next()) == b"WATCHDOG=1":
            pass
        assert said == b"STOPPING=1"


def test_an_endpoint_that_is_told_to_end_or_killed_leaves_no_process(fleet: Fleet) -> None:
    endpoint = fleet.endpoint
    before = _pids(fleet)
    endpoint.process.kill()
    endpoint.process.wait()
    until(lambda: not _alive(before), "the end of its processes")
    endpoint.start()
    before = _pids(fleet)
    for pid in before:  # as systemd does
        os.kill(pid, signal.SIGTERM)
    assert endpoint.process.wait(LONG_S) == 0
    assert not _alive(before)
    assert not any((endpoint.paths.of_fleet().run / name).exists() for name in ("control", "events", "first"))
    endpoint.start()
    fleet.client.shutdown()
    assert endpoint.process.wait(LONG_S) == 0
    endpoint.start()


def _alive(pids: tuple[int, ...]) -> list[int]:
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]
