"""Timers of the loop on a clock of the test's."""

import socket
import time

from acud.process.event_loop import EventLoop, Timer
from tests.fixtures.manual_clock import ManualClock


def test_cancelled_timers_are_let_go_of_long_before_their_time() -> None:
    loop = EventLoop(ManualClock().monotonic_s)
    kept = [loop.call_later(3600.0 + n, lambda: None) for n in range(100)]
    for _ in range(50_000):
        loop.call_later(604_800.0, lambda: None).cancel()
        assert len(loop._timers) <= 4 * len(kept)
    assert {id(entry[2]) for entry in loop._timers} >= {id(timer) for timer in kept}


def test_what_is_left_fires_in_order_of_time_whatever_was_cancelled_between() -> None:
    clock = ManualClock()
    loop = EventLoop(clock.monotonic_s)
    fired: list[int] = []
    timers: list[Timer] = []
    for number in range(1000):
        at_s = clock.monotonic_s() + (number * 37) % 1000
        timers.append(loop.call_at(at_s, lambda number=number: fired.append(number)))  # type: ignore[misc]
        if number % 3:
            timers[-1].cancel()
    clock.advance(1000.0)
    loop.turn(0.0)
    assert fired == sorted(range(0, 1000, 3), key=lambda number: (number * 37) % 1000)


def test_what_is_looked_at_each_period_shares_a_turn_however_far_apart_it_began() -> None:
    clock = ManualClock()
    loop = EventLoop(clock.monotonic_s)
    fired: list[str] = []
    loop.call_each(1.0, lambda: fired.append("one"))
    clock.advance(0.3)
    loop.call_each(1.0, lambda: fired.append("other"))
    turns = []
    for _ in range(40):
        clock.advance(0.1)
        before = len(fired)
        loop.turn(0.0)
        turns.append(fired[before:])
    assert [turn for turn in turns if turn] == [["one", "other"]] * 4
    clock.advance(600.0)  # one turn that took long: what was missed is not made up for
    loop.turn(0.0)
    assert len(fired) == 10


def test_a_turn_begins_by_the_time_that_was_set_last_and_once() -> None:
    loop = EventLoop(time.monotonic)
    silent, other = socket.socketpair()
    with silent, other:
        loop.watch(silent, lambda: None)
        loop.wake_at(time.monotonic() + 60.0)
        loop.wake_at(time.monotonic() + 0.02)
        began_s = time.monotonic()
        loop.turn(10.0)
        assert 0.02 <= time.monotonic() - began_s < 5.0
        began_s = time.monotonic()
        loop.turn(0.1)
        assert time.monotonic() - began_s >= 0.09
