"""A partition with a real wire: a host in a network namespace of its own, whose link is set down in mid-wait."""

from __future__ import annotations

from pathlib import Path

from acud.config.fleet import FleetSettings
from acud.protocol.events import Event
from acud.types import WaitInfo, WaitState
from tests.e2e import faults
from tests.e2e.fleet_support import settled, stored, taken
from tests.e2e.fleet_waits import Users, armed, paint
from tests.fixtures.fleet_rig import LONG_S, Fleet, until
from tests.fixtures.wire import Wire

MORE = '[wake]\nroutes = ["fleet"]\nretry_first_s = 0.1\nretry_max_s = 1.0\n'


def test_a_host_behind_a_link_that_was_down_tells_everything_once(wire: Wire, tmp_path: Path) -> None:
    users = Users(tmp_path, "h1", "h2", "endpoint")
    with Fleet(
        {"h1": 'is = "h1"', "h2": 'is = "h2"'},
        extra=users.config,
        admin={"nkey_seed_file": users.seed("endpoint")},
        more=MORE,
        login_of=users.login,
        prefix_of=lambda host: wire.prefix if host == "h1" else (),
        address=wire.address,
    ) as fleet:
        client, own = fleet.client, fleet.daemons["h1"].client
        servers = FleetSettings(url=fleet.nats.url, nkey_seed_file=users.seed("endpoint"))
        began = client.events_since(0, limit=1).newest
        wait, other = armed(fleet, "h1"), armed(fleet, "h2")

        wire.cut()
        until(lambda: fleet.lives()["h1"] == "lost", "the loss")
        found = client.wait_result(wait.wait_id).wait
        assert (found.state, found.verdict.code) == (WaitState.WATCHING, "host_lost")
        paint(fleet, other)
        paint(fleet, wait)
        assert own.wait_show(wait.wait_id).wait.state is WaitState.RESOLVED
        assert not client.wait_result(wait.wait_id).ended
        (wake,) = own.wake_list(wait_id=wait.wait_id).wakes
        assert wake.state.value == "pending"

        wire.heal()
        until(lambda: fleet.lives()["h1"] == "up", "the host's lease")
        assert client.wait_end(wait.wait_id, timeout_s=LONG_S).wait.state is WaitState.RESOLVED
        faults.event(fleet.daemons["h1"], "wake.sent", wake.wake_id)
        (others,) = fleet.daemons["h2"].client.wake_list(wait_id=other.wait_id, seen=True).wakes
        faults.event(fleet.daemons["h2"], "wake.sent", others.wake_id)
        assert sorted(taken(servers, 2)) == sorted([wake.wake_id, others.wake_id])
        faults.event(fleet.daemons["h1"], "wake.seen", wake.wake_id)

        settled(fleet.daemons["h1"], servers)
        told = [item for _, item in stored(servers, "h1") if isinstance(item, Event)]
        assert told == faults.events(fleet.daemons["h1"])[: len(told)]
        assert [event.n for event in told] == list(range(1, len(told) + 1))
        until(lambda: _count(fleet, began, "wait.resolved", wait) == 1, "its end among the fleet's events")
        assert _count(fleet, began, "wake.sent", wake.wake_id) == 1
        lost, back = (_count(fleet, began, f"fleet.{word}", "h1") for word in ("lost", "back"))
        assert lost == back > 0  # more than one pair on a machine so busy that a lease runs out by itself
        assert client.task_register("after", labels={"is": "h1"}).view.task.display.startswith("h1/")


def _count(fleet: Fleet, after: int, topic: str, subject: str | WaitInfo) -> int:
    name = subject if isinstance(subject, str) else subject.wait_id
    page = fleet.client.events_since(after, topic=topic, limit=1000)
    assert page.trimmed == 0
    return sum(event.subject == name for event in page.events)
