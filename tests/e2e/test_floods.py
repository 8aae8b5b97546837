"""Floods of a real daemon: others are served in between, deadlines fire, memory is bounded, no child is killed. What is
asserted is counted, not timed; the milliseconds are `scripts/bench floods`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from acud.protocol.events import Event
from acud.types import Stable
from tests.e2e import faults
from tests.fixtures.daemon import Daemon
from tests.fixtures.floods import FLOODS, Raw, flooding, request, rss_mb

_MOST_MB = 150.0
_WAITS = 300
_CALLS = 20


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """A daemon with so many waits that a list of them is large."""
    with Daemon(settings=faults.settings()) as running:
        display = running.client.display_create(64, 64).display
        for _ in range(_WAITS):
            running.client.wait_create(Stable(3600.0), display=display.name, timeout_s=7200.0)
        yield running


@pytest.mark.parametrize("flood", FLOODS)
def test_under_a_flood_others_are_served_and_nobody_is_killed(daemon: Daemon, flood: str) -> None:
    client = daemon.client
    display = client.display_list().displays[0].name
    with flooding(daemon, flood):
        wait = client.wait_create(Stable(3600.0), display=display, timeout_s=1.5).wait
        most_mb = 0.0
        for _ in range(_CALLS):
            assert client.status().pid == daemon.pid
            most_mb = max(most_mb, rss_mb(daemon.pid))
        faults.ended(daemon, wait, "timeout")
        most_mb = max(most_mb, rss_mb(daemon.pid))
    assert most_mb < _MOST_MB
    assert [child.restarts for child in client.status().children] == [0] * len(client.status().children)


def test_a_deadline_and_others_come_between_the_requests_of_one_client(daemon: Daemon) -> None:
    """800 requests lie there at once. Before they are answered another's is, and a deadline has passed."""
    client = daemon.client
    display = client.display_list().displays[0].name
    wait = client.wait_create(Stable(3600.0), display=display, timeout_s=0.2).wait
    flooder = Raw(daemon.paths.run / "control", b"DEALER")
    flooder.send(b"".join(request(number, {"type": "wait_list", "limit": 300}) for number in range(800)))
    flooder.read_on()
    assert client.status().pid == daemon.pid
    assert flooder.answers < 400
    faults.ended(daemon, wait, "timeout")
    assert flooder.answers < 800
    flooder.close()


def test_one_process_cannot_take_every_parked_reply() -> None:
    with Daemon(settings=faults.settings()) as daemon:
        display = daemon.client.display_create(64, 64).display.name
        wait_id = daemon.client.wait_create(Stable(3600.0), display=display, timeout_s=7200.0).wait.wait_id
        with flooding(daemon, "parked"):
            faults.until(lambda: _parked(daemon) >= 1024, "its share is parked")
            assert daemon.client.wait_result(wait_id, block_s=0.1).ended is False
            assert _parked(daemon) == 1024


def _parked(daemon: Daemon) -> float:
    found = {metric.family.name: metric for metric in daemon.client.metrics().metrics}
    return found["acud_requests_parked"].samples[0].value


def test_a_client_that_asks_for_too_many_topics_is_closed_and_others_hear_on(daemon: Daemon) -> None:
    client = daemon.client
    with client.events(topic="wait.") as stream:
        greedy = Raw(daemon.paths.run / "events", b"SUB")
        greedy.send(b"".join(b"\0\x05\x01" + number.to_bytes(4, "big") for number in range(300)))
        greedy.read_on()
        faults.until(lambda: greedy.ended, "it was closed")
        display = client.display_list().displays[0].name
        wait = client.wait_create(Stable(3600.0), display=display, timeout_s=0.1).wait
        assert any(isinstance(event, Event) and event.subject == wait.wait_id for event in stream)
        greedy.close()
    assert "topics" in daemon.log()
