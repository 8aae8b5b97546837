"""SIGKILL of a host, of its fleet process or of the server at seeded moments between a verdict and its publishing."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from acud.protocol.events import Event
from acud.types import WakeInfo
from tests.e2e import faults
from tests.e2e.fleet_support import HOLDS, host, joined, settled, stored, taken
from tests.fixtures.daemon import Daemon
from tests.fixtures.fleet_servers import FleetServers

WAITS = 3
ROUNDS = 15
VICTIMS = ("supervisor", "fleet", "server")


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_wake_is_received_once_and_every_event_is_stored_once(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with FleetServers() as nats, host(nats.url, "h1", tmp_path) as daemon:
        name = daemon.client.display_create(64, 64).display.name
        waits: list[str] = []
        for number in range(ROUNDS):
            joined(daemon)
            waits += [daemon.client.wait_create(HOLDS, display=name).wait.wait_id for _ in range(WAITS)]
            time.sleep(chance.uniform(0, 0.15))  # where the kill falls
            _kill(VICTIMS[number % len(VICTIMS)], daemon, nats)
        joined(daemon)
        wakes = [_wake(daemon, wait_id) for wait_id in waits]
        for wake in wakes:
            faults.event(daemon, "wake.sent", wake.wake_id)
        assert sorted(taken(nats.url, len(wakes))) == sorted(wake.wake_id for wake in wakes)
        settled(daemon, nats.url)
        told = [item for _, item in stored(nats.url, "h1") if isinstance(item, Event)]
        assert told == faults.events(daemon)[: len(told)]
        assert [event.n for event in told] == list(range(1, len(told) + 1))


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


def _wake(daemon: Daemon, wait_id: str) -> WakeInfo:
    def found() -> WakeInfo | None:
        return next(iter(daemon.client.wake_list(seen=True, wait_id=wait_id).wakes), None)

    return faults.until(found, f"the wake of {wait_id}", within_s=90)
