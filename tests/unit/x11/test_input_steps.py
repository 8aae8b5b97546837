"""Waiting for another program, on a clock of the test's."""

import pytest

from acud.x11 import input_steps
from tests.fixtures.manual_clock import ManualClock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> ManualClock:
    clock = ManualClock()
    monkeypatch.setattr("acud.x11.input_steps.time.monotonic", clock.monotonic_s)
    return clock


def test_it_takes_as_long_as_is_said(clock: ManualClock) -> None:
    began_s = clock.monotonic_s()
    for rest in input_steps.pause_for(2.0):
        clock.advance(rest.until_s - clock.monotonic_s())
    assert clock.monotonic_s() - began_s == pytest.approx(2.0)


def test_a_machine_that_stood_still_leaves_most_of_the_time(clock: ManualClock) -> None:
    rested_s = 0.0
    for number, rest in enumerate(input_steps.pause_for(2.0)):
        left_s = rest.until_s - clock.monotonic_s()
        rested_s += left_s if number else 0.0
        clock.advance(left_s if number else 60.0)
    assert rested_s >= 1.5


def test_what_came_is_not_waited_for_any_longer(clock: ManualClock) -> None:
    came: list[int] = []
    rests = input_steps.pause_for(2.0, lambda: bool(came))
    assert next(rests).over is not None
    came.append(1)
    assert list(rests) == []
