"""When a source is grabbed: demand, rate cap with a trailing grab, floor, demanded grabs, failures."""

import math

from hypothesis import given
from hypothesis import strategies as st

from acud.capture.frame_rate import GrabSchedule


def test_nothing_is_due_while_nobody_asks() -> None:
    schedule = GrabSchedule(30, 30)
    assert schedule.damaged
    assert schedule.due_s() is None


def test_the_first_frame_is_due_at_once() -> None:
    schedule = GrabSchedule(30, 30)
    schedule.apply_demand(10, 0)
    assert schedule.due_s() == -math.inf


def test_paint_to_be_looked_into_does_not_wait_for_the_cap() -> None:
    schedule = GrabSchedule(30, 30)
    schedule.apply_demand(10, 0)
    schedule.begin_grab(100.0)
    schedule.damaged = schedule.hurried = True
    assert schedule.due_s() == 100.003
    schedule.begin_grab(100.003)
    assert schedule.due_s() == 130.003


def test_damage_under_the_cap_gets_a_trailing_grab() -> None:
    schedule = GrabSchedule(30, 30)
    schedule.apply_demand(10, 0)
    schedule.begin_grab(100.0)
    schedule.damaged = True
    assert schedule.due_s() == 100.1


def test_without_damage_the_floor_is_due() -> None:
    schedule = GrabSchedule(30, 30)
    schedule.apply_demand(10, 0)
    schedule.begin_grab(100.0)
    assert schedule.due_s() == 130.0


def test_without_damage_events_every_interval_is_due() -> None:
    schedule = GrabSchedule(30, 30, polled=True)
    schedule.apply_demand(10, 0)
    schedule.begin_grab(100.0)
    assert schedule.due_s() == 100.1


def test_no_consumer_exceeds_the_cap() -> None:
    schedule = GrabSchedule(20, 30)
    schedule.apply_demand(1000, 0)
    schedule.begin_grab(100.0)
    schedule.damaged = True
    assert schedule.due_s() == 100.05


def test_a_demanded_grab_is_due_now_also_at_no_rate() -> None:
    schedule = GrabSchedule(30, 30)
    schedule.begin_grab(100.0)
    schedule.apply_demand(0, 3)
    assert schedule.due_s() == -math.inf
    assert schedule.begin_grab(100.001) == 3
    assert schedule.due_s() is None


def test_an_old_number_asks_for_nothing() -> None:
    schedule = GrabSchedule(30, 30)
    schedule.apply_demand(0, 3)
    schedule.begin_grab(1.0)
    schedule.apply_demand(0, 3)
    schedule.apply_demand(0, 2)
    assert schedule.due_s() is None


def test_a_failed_grab_is_owed_still() -> None:
    schedule = GrabSchedule(30, 30)
    schedule.apply_demand(5, 7)
    assert schedule.begin_grab(1.0) == 7
    schedule.note_failed_grab()
    assert schedule.due_s() == -math.inf
    assert schedule.begin_grab(2.0) == 7


STEPS = st.lists(st.tuples(st.sampled_from(["damage", "grab"]), st.floats(0.001, 2)), max_size=40)


@given(STEPS, st.floats(0.5, 60))
def test_the_last_damage_is_always_grabbed_and_never_too_soon(steps: list[tuple[str, float]], fps: float) -> None:
    schedule, now, last = GrabSchedule(60, 30), 0.0, -math.inf
    schedule.apply_demand(fps, 0)
    for what, wait in steps:
        now += wait
        if what == "damage":
            schedule.damaged = True
        due = schedule.due_s()
        assert due is not None
        if what == "grab" and due <= now:
            assert now - last >= 1 / fps - 1e-9
            schedule.begin_grab(now)
            last = now
    if schedule.damaged:
        due = schedule.due_s()
        assert due is not None
        assert due <= last + 1 / fps
