"""Who is stuck."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from acud.features.tasks.rules import SteadyTimes, StuckRule, TaskFacts, is_stuck, stuck_tasks
from acud.types.tasks import TaskStatus
from tests.unit.features.tasks.trees import NOW, task

RULE = StuckRule(300.0, 300.0)


@pytest.mark.parametrize(("silent_s", "stuck_s", "waits", "expected"), [
    (299.9, None, 0, False), (300.0, None, 0, True), (300.0, None, 1, False), (900.0, 299.0, 0, False),
    (900.0, 300.0, 0, True), (-50.0, None, 0, False),
])  # fmt: skip
def test_the_spans(silent_s: float, stuck_s: float | None, waits: int, expected: bool) -> None:
    assert is_stuck(TaskFacts(task(silent_s=silent_s, stuck_s=stuck_s), waits), NOW, RULE) is expected


@pytest.mark.parametrize("status", [status for status in TaskStatus if status is not TaskStatus.ACTIVE])
def test_only_active_tasks(status: TaskStatus) -> None:
    assert not is_stuck(TaskFacts(task(status, silent_s=9999), 0), NOW, RULE)


def test_the_longest_silence_comes_first() -> None:
    tasks = [replace(task(silent_s=silent), task_id=f"task-{silent}") for silent in (400, 900, 10, 600)]
    nows = {one.task_id: NOW for one in tasks}
    assert stuck_tasks([TaskFacts(one, 0) for one in tasks], nows, RULE) == ("task-900", "task-600", "task-400")


@given(
    checks=st.lists(st.floats(0.5, 200.0), min_size=1, max_size=60),
    signs=st.sets(st.integers(0, 59)),
    after_s=st.floats(1, 400),
    cooldown_s=st.floats(1, 400),
)
def test_alarms_are_apart_and_never_early(
    checks: list[float], signs: set[int], after_s: float, cooldown_s: float
) -> None:
    """Whatever happens when: an alarm follows enough silence, and no other alarm within the cooldown."""
    rule, now, one, last_sign, alarms = StuckRule(after_s, cooldown_s), NOW, task(), NOW, [float("-inf")]
    for index, pause in enumerate(checks):
        now += pause
        if index in signs:
            one, last_sign = replace(one, updated_at=now), now
        silent_and_cool = now - last_sign >= after_s and now - alarms[-1] >= cooldown_s
        assert is_stuck(TaskFacts(one, 0), now, rule) is silent_and_cool
        if silent_and_cool:
            one = replace(one, stuck_at=now)
            alarms.append(now)


DAY_S = 86_400.0


@pytest.mark.parametrize("step_s", [-DAY_S, -60.0, 0.0, 60.0, DAY_S])
def test_a_stepped_wall_clock_makes_nobody_stuck_and_nobody_late(step_s: float) -> None:
    steady, one = SteadyTimes(), task(silent_s=100.0)
    assert steady.nows([one], NOW, 1000.0)[one.task_id] - one.updated_at == 100.0
    assert steady.nows([one], NOW + 60.0 + step_s, 1060.0)[one.task_id] - one.updated_at == 160.0
    assert steady.nows([one], NOW + 120.0, 1120.0)[one.task_id] - one.updated_at == 220.0


@pytest.mark.parametrize("step_s", [-DAY_S, DAY_S])
def test_a_sign_from_before_a_step_is_no_older_than_the_check_before(step_s: float) -> None:
    steady, one = SteadyTimes(), task(silent_s=200.0)
    steady.nows([one], NOW, 1000.0)
    moved = replace(one, updated_at=NOW + 30.0)
    assert 0.0 <= steady.nows([moved], NOW + 60.0 + step_s, 1060.0)[one.task_id] - moved.updated_at <= 60.0
    later = steady.nows([moved], NOW + 400.0 + step_s, 1400.0)[one.task_id] - moved.updated_at
    assert 340.0 <= later <= 400.0


def test_between_two_alarms_only_the_steady_time_counts() -> None:
    steady, one = SteadyTimes(), task(silent_s=300.0)
    assert stuck_tasks([TaskFacts(one, 0)], steady.nows([one], NOW, 1000.0), RULE) == (one.task_id,)
    told = replace(one, stuck_at=NOW)
    assert stuck_tasks([TaskFacts(told, 0)], steady.nows([told], NOW + DAY_S, 1060.0), RULE) == ()
    assert stuck_tasks([TaskFacts(told, 0)], steady.nows([told], NOW + DAY_S, 1360.0), RULE) == (one.task_id,)


def test_what_is_no_task_any_more_is_forgotten() -> None:
    steady = SteadyTimes()
    steady.nows([task()], NOW, 1000.0)
    steady.nows([], NOW, 1060.0)
    assert not steady._seen
