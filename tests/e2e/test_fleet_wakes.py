"""A host's wakes and events in the fleet's streams, over kills of the host and of the server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.base.errors import InvalidRequest, Refused
from acud.protocol.events import Event
from acud.types import DisplayInfo, OnHostLost, Policy, RouteName, WakeAddress, WakeState, WindowTitle
from acud_client import Client
from acud_client.stream import Trimmed
from tests.e2e import faults
from tests.e2e.cli_support import CommandLine
from tests.e2e.fleet_support import HOLDS, host, joined, resolved, settled, stored, taken, wake_of
from tests.fixtures.daemon import Daemon
from tests.fixtures.fleet_servers import FleetServers
from tests.fixtures.ports import free_port
from tests.fixtures.wake_receiver import Receiver
from tests.integration.store_support import open_store

SECRET = "key-of-the-webhook-of-the-test"


@pytest.fixture(scope="module")
def nats() -> Iterator[FleetServers]:
    with FleetServers(lease_s=600) as running:
        yield running


@pytest.fixture(scope="module")
def daemon(nats: FleetServers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A host whose next run has its name long before its lease runs out, and whose wakes go as the servers are back,
    long before they are tried again. A test takes all wakes that it makes.
    """
    home, wake = tmp_path_factory.mktemp("home"), {"retry_max_s": 300}
    with host(nats.url, "h1", home, wake=wake, fleet={"lease_s": 600}) as running:
        yield running


def test_a_wake_outlives_its_host_before_and_after_it_was_published(nats: FleetServers, daemon: Daemon) -> None:
    joined(daemon)
    first = wake_of(daemon, resolved(daemon), WakeState.SENT)
    assert (first.sent_by, first.attempts) == ("fleet", 1)
    nats.servers[0].kill()
    others = [wake_of(daemon, resolved(daemon), WakeState.PENDING) for _ in range(3)]
    daemon.kill()  # committed, and nowhere but in the store
    nats.servers[0].start()
    assert taken(nats.url, 1) == [first.wake_id]  # of a host that is dead
    daemon.start()
    joined(daemon)
    for wake in others:
        faults.event(daemon, "wake.sent", wake.wake_id)
    # The word that the first was seen waited for its host.
    faults.event(daemon, "wake.seen", first.wake_id)
    assert sorted(taken(nats.url, 3)) == sorted(wake.wake_id for wake in others)
    for wake in others:
        faults.event(daemon, "wake.seen", wake.wake_id)
    left = {wake.wake_id for wake in daemon.client.wake_list().wakes}  # of a test before one may be
    assert left.isdisjoint(wake.wake_id for wake in (first, *others))


def test_wakes_and_events_go_on_over_kills_without_a_gap_or_a_double(nats: FleetServers, daemon: Daemon) -> None:
    waits = []
    for victim in ("fleet", "server", "supervisor"):
        joined(daemon)
        waits.append(resolved(daemon))
        _kill(victim, daemon, nats)  # wherever its publishing was
    joined(daemon)
    wakes = [wake_of(daemon, wait, WakeState.SENT) for wait in waits]
    assert sorted(taken(nats.url, len(wakes))) == sorted(wake.wake_id for wake in wakes)
    for wake in wakes:
        faults.event(daemon, "wake.seen", wake.wake_id)
    settled(daemon, nats.url)
    found = stored(nats.url, "h1")
    told = [event for _, event in found if isinstance(event, Event)]
    assert told == faults.events(daemon)[: len(told)]
    assert [event.n for event in told] == list(range(1, len(told) + 1))
    instances = {identity.split(":")[1] for identity, _ in found}
    assert len(instances) == 1
    assert [identity for identity, _ in found] == [f"h1:{next(iter(instances))}:{event.n}" for event in told]


def _kill(victim: str, daemon: Daemon, nats: FleetServers) -> None:
    if victim == "supervisor":
        daemon.kill()
        daemon.start()
    elif victim == "fleet":
        killed = faults.running(daemon, "fleet").pid
        faults.kill(killed)
        faults.running(daemon, "fleet", not_pid=killed)
    else:
        nats.servers[0].kill()
        nats.servers[0].start()


def test_events_that_are_kept_no_more_are_told_as_a_gap_and_a_new_store_is_told_from_its_first(tmp_path: Path) -> None:
    with FleetServers() as nats, host(nats.url, "h1", tmp_path, store={"keep_events": 1000}) as daemon:
        settled(daemon, nats.url)
        daemon.stop()
        before = stored(nats.url, "h1")
        with open_store(daemon.home) as store, store.turn():
            for number in range(1500):
                store.events.append("task.updated", f"task-{number}", {}, number)
        daemon.start()
        settled(daemon, nats.url)
        after = stored(nats.url, "h1")
        assert after[: len(before)] == before
        gap, *rest = [told for _, told in after[len(before) :]]
        assert isinstance(gap, Trimmed)
        last = before[-1][1]
        assert isinstance(last, Event)
        first = daemon.client.events_since(0, limit=1).trimmed
        assert (gap.after, gap.first) == (last.n, first)
        assert [event.n for event in rest if isinstance(event, Event)] == list(range(first, first + len(rest)))

        daemon.stop()
        after = stored(nats.url, "h1")
        for file in daemon.home.glob("data.db*"):
            file.unlink()
        daemon.start()
        settled(daemon, nats.url)
        anew = stored(nats.url, "h1")[len(after) :]
        assert [told.n for _, told in anew if isinstance(told, Event)] == list(range(1, len(anew) + 1))
        assert anew[0][0].split(":")[1] != after[0][0].split(":")[1]


def test_another_host_brings_the_wakes_of_a_dead_one(nats: FleetServers, daemon: Daemon, tmp_path: Path) -> None:
    with Receiver() as receiver:
        carrier = {
            "routes": ["webhook"], "webhook_url": receiver.url, "webhook_secret": SECRET, "carry": ["main", "other"],
        }  # fmt: skip
        joined(daemon)
        wake = wake_of(daemon, resolved(daemon), WakeState.SENT)
        daemon.kill()
        with host(nats.url, "h2", tmp_path, wake=carrier, fleet={"lease_s": 600}) as other:
            (brought,) = receiver.wait_for(1)
            assert (brought.key, brought.body["text"]) == (wake.wake_id, wake.text)
            assert other.client.wake_list(seen=True).wakes == ()
            joined(other)
            assert taken(nats.url, 0) == []
        daemon.start()


def test_after_all_servers_were_wiped_a_host_names_what_is_missing_and_goes_on_with_its_outbox(tmp_path: Path) -> None:
    with FleetServers() as nats, host(nats.url, "h1", tmp_path) as daemon:
        joined(daemon)
        wake_of(daemon, resolved(daemon), WakeState.SENT)
        server = nats.servers[0]
        server.kill()
        kept = wake_of(daemon, resolved(daemon), WakeState.PENDING)
        server.wipe()
        server.start()
        lost = {"ACUD_EVENTS", "ACUD_WAKES", "KV_acud_hosts", "KV_acud_places"}
        faults.until(lambda: _missing(daemon) >= lost, "the doctor names what is missing")
        nats.initialise()
        faults.event(daemon, "wake.sent", kept.wake_id)
        assert taken(nats.url, 1) == [kept.wake_id]
        faults.event(daemon, "wake.seen", kept.wake_id)
        faults.until(lambda: not _missing(daemon), "the doctor misses nothing")


def _missing(daemon: Daemon) -> set[str]:
    """Return the streams that the host's doctor misses."""
    words = [one.text for one in daemon.client.doctor().findings if one.part == "fleet"]
    return {word.removeprefix("the servers have no stream ") for word in words if "have no stream" in word}


@pytest.mark.long
def test_a_carrier_whose_routes_fail_leaves_the_wake_to_another(tmp_path: Path) -> None:
    with FleetServers() as nats, Receiver() as receiver:
        dead = {"webhook_url": f"http://127.0.0.1:{free_port()}/", "webhook_secret": SECRET}
        failing = {"routes": ["fleet", "webhook"], "carry": ["main"], **dead}
        with host(nats.url, "h1", tmp_path, wake=failing) as daemon:
            joined(daemon)
            wake = wake_of(daemon, resolved(daemon), WakeState.SENT)
            faults.until(lambda: daemon.client.wake_list().failing.get("webhook"), "it was tried")
            working = {"routes": ["webhook"], "webhook_url": receiver.url, "webhook_secret": SECRET, "carry": ["main"]}
            with host(nats.url, "h2", tmp_path, wake=working):
                daemon.kill()
                (brought,) = receiver.wait_for(1)
                assert brought.key == wake.wake_id


def test_the_command_line_takes_an_agents_wakes(nats: FleetServers, daemon: Daemon) -> None:
    joined(daemon)
    acud = CommandLine(daemon.home)
    assert acud.run("fleet", "wakes") == "no wakes for main\n"
    wakes = [wake_of(daemon, resolved(daemon), WakeState.SENT) for _ in range(2)]
    line = json.loads(_given(acud, "--json", "--limit", "1"))
    assert (line["wake"]["id"], line["wake"]["host"], line["deliveries"]) == (wakes[0].wake_id, "h1", 1)
    said = _given(acud, "--agent", "main")
    assert wakes[1].text in said
    assert wakes[0].wake_id not in said
    for wake in wakes:
        faults.event(daemon, "wake.seen", wake.wake_id)
    nats.servers[0].kill()
    follower = acud.start("fleet", "wakes", "--follow", "--json", "--limit", "1")
    wait = resolved(daemon)
    faults.until(lambda: daemon.client.wake_list().failing.get("fleet"), "the route is told to fail")
    nats.servers[0].start()
    said, _ = follower.communicate(timeout=faults.PATIENCE_S)
    assert json.loads(said)["wake"]["wait_id"] == wait.wait_id


def _given(acud: CommandLine, *arguments: str) -> str:
    """Return what the command line says of the wakes that it is given, asked again where none came in its 2 s."""

    def said() -> str:
        words = acud.run("fleet", "wakes", *arguments)
        return "" if words.startswith("no wakes for ") else words

    return faults.until(said, "wakes")


def test_the_route_wants_a_fleet(client: Client, view: DisplayInfo) -> None:
    with pytest.raises(InvalidRequest, match="route fleet is not set up") as caught:
        client.wait_create(HOLDS, display=view.name, wake=WakeAddress(routes=(RouteName.FLEET,)))
    assert caught.value.hint == "it needs url in [fleet]"
    with pytest.raises(Refused) as refused:
        client.wait_create(WindowTitle("x"), display=view.name, policy=Policy(on_host_lost=OnHostLost.REARM))
    assert "[fleet] url" in refused.value.hint


def test_without_a_fleet_no_process_is_started_and_nothing_is_imported(shared: Daemon) -> None:
    status = shared.client.status()
    assert status.fleet == {}
    assert not [child for child in status.children if child.kind == "fleet"]
    for child in (*(one.pid for one in status.children if one.pid), status.pid):
        assert "/nats/" not in Path(f"/proc/{child}/maps").read_text(encoding="utf-8")


def test_neither_supervisor_nor_clients_import_nats() -> None:
    code = "import sys, acud.supervisor.__main__, acud_client; print('nats' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": ".:clients"}
    )
    assert done.stdout.strip() == "False"
