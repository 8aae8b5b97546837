"""Waits of hosts that die or are cut off, with daemons and endpoints of their own: their deadlines are kept, they are
woken for once, and what was told of them stands when their host is back.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from acud.base.errors import Unavailable
from acud.protocol.requests.waits import WaitResultReply
from acud.types import Answer, Change, WaitInfo, WaitState, WakeAddress, WakeState
from acud_client import Client
from tests.e2e import faults
from tests.e2e.fleet_support import taken
from tests.e2e.fleet_waits import armed, heard, kill, paint
from tests.fixtures.fleet_proxy import Proxy
from tests.fixtures.fleet_rig import LEASE_S, LONG_S, EndpointProcess, Fleet, until
from tests.fixtures.nats_servers import Nats

MORE = '[wake]\nroutes = ["fleet"]\nretry_first_s = 0.1\nretry_max_s = 1.0\n'
_SOON_S = 15.0
"""Long enough to arm a wait and kill its host on a machine under load."""


class Rig:
    """Two hosts, of which h2 can be cut off, and two endpoints."""

    def __init__(self, stack: ExitStack) -> None:
        self.proxies: dict[str, Proxy] = {}

        def url_of(host: str, nats: Nats) -> str:
            self.proxies[host] = stack.enter_context(Proxy(nats.servers[0].port))
            return self.proxies[host].url

        self.fleet = stack.enter_context(Fleet({"h1": 'is = "h1"', "h2": 'is = "h2"'}, url_of=url_of, more=MORE))
        self.other = EndpointProcess(self.fleet.nats.url, lease_s=LEASE_S)
        stack.callback(self.other.close)
        self.other.start()

    def back(self, host: str) -> None:
        """Return once both endpoints take the host for alive."""
        for one in (self.fleet.client, self.other.client):
            until(lambda one=one: host in [at.host for at in one.fleet_hosts().hosts if at.life == "up"], host)  # type: ignore[misc]


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with ExitStack() as stack:
        yield Rig(stack)


class Blocked(threading.Thread):
    """Somebody who blocks for the end of a wait."""

    def __init__(self, client: Client, wait: WaitInfo) -> None:
        super().__init__()
        self._client = client
        self._wait = wait
        self.reply: WaitResultReply | None = None

    def run(self) -> None:
        self.reply = self._client.wait_end(self._wait.wait_id, timeout_s=LONG_S)

    def ended(self) -> WaitInfo:
        """Return the wait as its end was told."""
        self.join(2 * LONG_S)
        assert self.reply.ended
        return self.reply.wait


def _wake_id(wait: WaitInfo) -> str:
    return wait.wait_id.replace("wait-", "wake-")


def test_a_host_killed_in_mid_wait_is_lost_and_told_and_comes_back(rig: Rig) -> None:
    fleet, client = rig.fleet, rig.fleet.client
    unwoken = WakeAddress(routes=())
    lost, other = (armed(fleet, host, wake=unwoken) for host in ("h1", "h2"))
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
    paint(fleet, other)
    assert client.wait_end(other.wait_id, timeout_s=LONG_S).wait.state is WaitState.RESOLVED
    blocked = Blocked(client, lost)  # somebody blocks for the result meanwhile, and gets it
    blocked.start()
    fleet.daemons["h1"].start()
    rig.back("h1")
    paint(fleet, lost)
    assert blocked.ended().state is WaitState.RESOLVED


def test_a_host_dies_and_its_wait_times_out_wakes_once_and_stays_so_when_it_is_back(rig: Rig) -> None:
    fleet, client = rig.fleet, rig.fleet.client
    task = client.task_register("dying", labels={"is": "h1"}).view.task
    wait = client.wait_create(Change(), task_id=task.task_id, timeout_s=_SOON_S).wait
    blocked = [Blocked(client, wait), Blocked(rig.other.client, wait)]
    for one in blocked:
        one.start()
    with client.events(topic="wait.timeout") as stream:
        stream.next(timeout_s=0.1)
        kill(fleet, "h1")
        told = blocked[0].ended()
        assert blocked[1].ended() == told
        assert heard(stream, "wait.timeout", wait.wait_id).data["host"] == "h1"
    assert (told.state, told.verdict.code) == (WaitState.TIMEOUT, "host_lost")
    assert taken(fleet.nats.url, 1) == [_wake_id(wait)]

    fleet.daemons["h1"].start()
    rig.back("h1")
    own = fleet.daemons["h1"].client.wait_show(wait.wait_id).wait
    assert (own.state, own.verdict, own.message) == (told.state, told.verdict, told.message)
    assert own.ended_utc_s == told.ended_utc_s
    faults.event(fleet.daemons["h1"], "wait.timeout", wait.wait_id)
    (wake,) = fleet.daemons["h1"].client.wake_list(seen=True, wait_id=wait.wait_id).wakes
    assert (wake.wake_id, wake.state) == (_wake_id(wait), WakeState.SEEN)
    for one in (client, rig.other.client):
        assert one.wait_result(wait.wait_id).wait == told
        assert one.wait_show(wait.wait_id).wait == told
    assert taken(fleet.nats.url, 0) == []


def test_a_host_that_was_cut_off_and_forgotten_keeps_its_own_ends_and_changes_none_of_the_fleets(rig: Rig) -> None:
    fleet, client, daemon = rig.fleet, rig.fleet.client, rig.fleet.daemons["h2"]
    resolved, live = armed(fleet, "h2"), armed(fleet, "h2")
    rig.proxies["h2"].cut()
    until(lambda: fleet.lives()["h2"] == "lost", "the loss")
    paint(fleet, resolved)  # behind the cut it resolves, and so is told there
    blocked = Blocked(rig.other.client, live)
    blocked.start()
    client.fleet_drain("h2", "forget")
    told = {wait.wait_id: client.wait_result(wait.wait_id, peek=True).wait for wait in (resolved, live)}
    assert {(one.state, one.verdict.code) for one in told.values()} == {(WaitState.FAILED, "host_lost")}
    assert blocked.ended() == told[live.wait_id]
    assert sorted(taken(fleet.nats.url, 2)) == sorted(map(_wake_id, (resolved, live)))

    rig.proxies["h2"].heal()
    rig.back("h2")
    faults.event(daemon, "wait.failed", live.wait_id)
    assert daemon.client.wait_show(resolved.wait_id).wait.state is WaitState.RESOLVED
    faults.event(daemon, "wake.seen", _wake_id(resolved))  # by whoever took the one of the fleet
    for one in (client, rig.other.client):
        assert {wait_id: one.wait_result(wait_id).wait for wait_id in told} == told
        listed = {wait.wait_id: wait for wait in one.wait_list(ended=True).waits}
        assert listed[resolved.wait_id] == told[resolved.wait_id]
        assert listed[live.wait_id].state is WaitState.FAILED
    assert taken(fleet.nats.url, 0) == []
