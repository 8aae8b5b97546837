"""A fleet whose servers lose what they stored: hosts say what is missing, and go on once the administrator made it."""

from __future__ import annotations

from pathlib import Path

from acud.types import WakeState
from tests.e2e import faults
from tests.e2e.fleet_support import host, joined, resolved, taken, wake_of
from tests.fixtures.daemon import Daemon
from tests.fixtures.fleet_servers import FleetServers


def _missing(daemon: Daemon) -> set[str]:
    """Return the streams that the host's doctor misses."""
    words = [one.text for one in daemon.client.doctor().findings if one.part == "fleet"]
    return {word.removeprefix("the servers have no stream ") for word in words if "have no stream" in word}


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
