"""Three servers of which two or all go: nobody can tell which hosts live then, and no living host is called lost."""

from __future__ import annotations

import random
import time

import pytest

from acud.base.errors import Unavailable
from acud.types import WaitInfo
from tests.e2e.fleet_waits import armed, paint
from tests.fixtures.fleet_rig import LONG_S, Fleet, until


def _lives(fleet: Fleet) -> dict[str, str]:
    """Return how the endpoint sees each host, nothing while it cannot tell."""
    try:
        return fleet.lives()
    except Unavailable as fault:
        return {"why": fault.message}


def _said(fleet: Fleet) -> str:
    logs = {"endpoint": fleet.endpoint.log(), **{host: daemon.log() for host, daemon in fleet.daemons.items()}}
    return "\n".join(
        f"{name}: {line}" for name, log in logs.items() for line in log.splitlines()[-400:] if '"fleet.' in line
    )


def _lost(fleet: Fleet) -> list[str]:
    return [event.subject for event in fleet.client.events_since(topic="fleet.lost").events]


def _dark(fleet: Fleet, seconds: float) -> None:
    """See for so long that no host is called lost."""
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        assert "lost" not in _lives(fleet).values(), _said(fleet)
        time.sleep(0.2)


def _armed(fleet: Fleet) -> WaitInfo:
    """Return a wait on a host once the servers take what is written: one that came back may elect its leader anew."""
    end_s = time.monotonic() + LONG_S
    while True:
        try:
            return armed(fleet, "h2")
        except Unavailable:
            assert time.monotonic() < end_s, _said(fleet)
            time.sleep(0.5)


def test_without_a_quorum_nobody_is_called_lost() -> None:
    with Fleet({"h1": 'is = "h1"', "h2": 'is = "h2"'}, servers=3) as fleet:
        wait = armed(fleet, "h1")
        gone = fleet.nats.servers[:2]
        for server in gone:
            server.kill()
        until(lambda: "too few NATS servers" in _lives(fleet).get("why", ""), "word that nobody can tell")
        _dark(fleet, 15.0)  # longer than a lease
        for server in gone:
            server.start()
        until(lambda: _lives(fleet) == {"h1": "up", "h2": "up"}, "all hosts")
        _dark(fleet, 12.0)
        assert _lost(fleet) == []
        paint(fleet, wait)
        until(lambda: fleet.client.wait_show(wait.wait_id).wait.state == "resolved", "its end, told over the fleet")


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(20))
def test_servers_come_and_go(seed: int) -> None:
    chance = random.Random(seed)
    with Fleet({"h1": 'is = "h1"', "h2": 'is = "h2"'}, servers=3) as fleet:
        for _ in range(3):
            gone = chance.sample(fleet.nats.servers, chance.choice((2, 2, 3)))
            for server in gone:
                server.kill()
                time.sleep(chance.uniform(0, 3))
            _dark(fleet, chance.uniform(1, 20))
            chance.shuffle(gone)
            for server in gone:
                server.start()
                time.sleep(chance.uniform(0, 3))
            until(lambda: _lives(fleet) == {"h1": "up", "h2": "up"}, "all hosts")
            _dark(fleet, 3.0)
        wait = _armed(fleet)
        paint(fleet, wait)
        _dark(fleet, 12.0)
        assert _lost(fleet) == []
