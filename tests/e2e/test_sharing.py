"""Many on one host: limits that say which setting they are, and a judge shared evenly. Told by the order of events."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from acud.base.errors import Refused
from acud.protocol.events import Event
from acud.types import Cadence, Criteria, DisplayInfo, GateKind, Policy, Priority, Rect
from acud_client import Client
from tests.e2e.desktop import until
from tests.fixtures.daemon import Daemon

_JUDGE = {"delay_ms": 1000, "rules": [], "default": "no"}
"""Slow: a few judgements are more time than a busy machine takes for the first frame of a new wait."""
_SETTINGS = f"""
[display]
window_manager = "none"
session_bus = false
max = 3
[wait]
max_per_display = 13
max_per_task = 2
max_new_per_minute = 1000
[evaluator]
workers = 1
jobs_per_worker = 1
[vision]
backend = "scripted"
scripted = '{json.dumps(_JUDGE)}'
"""
_BUSY = 12
_LONG_S = 600.0


@pytest.fixture(scope="module")
def own() -> Iterator[Daemon]:
    """A daemon with a judge that makes one judgement at a time."""
    with Daemon(settings=_SETTINGS) as running:
        yield running


@pytest.fixture(scope="module")
def displays(own: Daemon) -> list[DisplayInfo]:
    """Two displays."""
    return [own.client.display_create(320, 240).display for _ in range(2)]


@pytest.fixture
def acud(own: Daemon) -> Iterator[Client]:
    """A client; its waits are cancelled."""
    yield own.client
    for wait in own.client.wait_list(limit=500).waits:
        own.client.wait_cancel(wait.wait_id)


def _criteria(client: Client, display: DisplayInfo, box: Rect, priority: Priority = Priority.NORMAL) -> str:
    policy = Policy(cadence=Cadence.FIXED, interval_s=0.05, gate=GateKind.NONE, priority=priority)
    target = f"region:{box.x},{box.y},{box.w},{box.h}"
    made = client.wait_create(Criteria("x"), target, display=display.name, timeout_s=_LONG_S, policy=policy)
    return made.wait.wait_id


def _backlog(client: Client, display: DisplayInfo, priority: Priority = Priority.NORMAL) -> None:
    """Ask for more judgements on `display` than can be made: each wait has a view of its own, judged all the time."""
    waits = [_criteria(client, display, Rect(16 * n, 0, 16, 16), priority) for n in range(_BUSY)]
    until(lambda: all(client.wait_show(wait).wait.judged > 0 for wait in waits), "the first judgement of each")


def _judged_before(client: Client, wanted: str) -> int:
    """Return how many other judgements were made from the creation of the wait `wanted` to its first."""
    until(lambda: client.wait_show(wanted).wait.judged > 0, "its first judgement")
    found = _after(client, 0)
    created = next(n for n, event in enumerate(found) if (event.topic, event.subject) == ("wait.created", wanted))
    judged = [event.subject for event in found[created:] if event.topic == "wait.judged"]
    return judged.index(wanted)


def _after(client: Client, number: int) -> list[Event]:
    found: list[Event] = []
    while page := client.events_since(number, topic="wait.").events:
        found += page
        number = page[-1].n
    return found


def test_a_wait_of_high_priority_is_judged_before_low_ones_of_its_display(
    acud: Client, displays: list[DisplayInfo]
) -> None:
    _backlog(acud, displays[0], Priority.LOW)
    urgent = _criteria(acud, displays[0], Rect(0, 32, 16, 16), Priority.HIGH)
    assert _judged_before(acud, urgent) < _BUSY // 2


def test_one_wait_too_many_on_a_display_is_refused_and_another_display_takes_it(
    acud: Client, displays: list[DisplayInfo]
) -> None:
    for n in range(13):
        _criteria(acud, displays[0], Rect(16 * n, 0, 16, 16))
    with pytest.raises(Refused, match=r"13 live waits look at display .* already") as refused:
        _criteria(acud, displays[0], Rect(0, 0, 16, 16))
    assert "[wait] max_per_display" in refused.value.hint
    assert _criteria(acud, displays[1], Rect(0, 0, 16, 16))


def test_one_wait_too_many_of_a_task_is_refused(acud: Client, displays: list[DisplayInfo]) -> None:
    task = acud.task_register("many waits", isolated_display=False).view.task.task_id
    for _ in range(2):
        acud.wait_create(Criteria("x"), display=displays[0].name, timeout_s=_LONG_S, task_id=task)
    with pytest.raises(Refused, match="has 2 live waits already") as refused:
        acud.wait_create(Criteria("x"), display=displays[0].name, timeout_s=_LONG_S, task_id=task)
    assert "[wait] max_per_task" in refused.value.hint


def test_one_display_too_many_is_refused_and_a_removed_one_makes_room(
    acud: Client, displays: list[DisplayInfo]
) -> None:
    third = acud.display_create(320, 240).display
    with pytest.raises(Refused, match="3 managed displays are up or starting already") as refused:
        acud.display_create(320, 240)
    assert "[display] max" in refused.value.hint
    with pytest.raises(Refused, match="3 managed displays"):
        acud.task_register("a task with a display of its own")
    acud.display_remove(third.name)
    again = acud.display_create(320, 240).display
    acud.display_remove(again.name)


def test_too_many_new_waits_in_a_minute_are_refused_with_the_time_to_wait() -> None:
    with Daemon(settings=_SETTINGS.replace("per_minute = 1000", "per_minute = 3")) as daemon:
        display = daemon.client.display_create(320, 240).display
        for n in range(3):
            _criteria(daemon.client, display, Rect(16 * n, 0, 16, 16))
        with pytest.raises(Refused, match="made 3 waits in the last minute") as refused:
            _criteria(daemon.client, display, Rect(0, 0, 16, 16))
        assert "[wait] max_new_per_minute" in refused.value.hint
