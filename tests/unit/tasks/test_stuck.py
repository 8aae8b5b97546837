"""Who is stuck."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from acud.tasks.nouns import TaskStatus
from acud.tasks.stuck import Facts, Rule, is_stuck, stuck
from tests.unit.tasks.trees import NOW, task

RULE = Rule(300.0, 300.0)


@pytest.mark.parametrize(
    ("silent_s", "stuck_s", "waits", "expected"),
    [
        (299.9, None, 0, False),
        (300.0, None, 0, True),
        (300.0, None, 1, False),
        (900.0, 299.0, 0, False),
        (900.0, 300.0, 0, True),
        (-50.0, None, 0, False),
    ],
)
def test_the_spans(silent_s: float, stuck_s: float | None, waits: int, expected: bool) -> None:
    assert is_stuck(Facts(task(silent_s=silent_s, stuck_s=stuck_s), waits), NOW, RULE) is expected


@pytest.mark.parametrize("status", [status for status in TaskStatus if status is not TaskStatus.ACTIVE])
def test_only_active_tasks(status: TaskStatus) -> None:
    assert not is_stuck(Facts(task(status, silent_s=9999), 0), NOW, RULE)


def test_the_longest_silence_comes_first() -> None:
    tasks = [replace(task(silent_s=silent), task_id=f"task-{silent}") for silent in (400, 900, 10, 600)]
    assert stuck([Facts(one, 0) for one in tasks], NOW, RULE) == ("task-900", "task-600", "task-400")


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
    rule, now, one, last_sign, alarms = Rule(after_s, cooldown_s), NOW, task(), NOW, [float("-inf")]
    for index, pause in enumerate(checks):
        now += pause
        if index in signs:
            one, last_sign = replace(one, updated_at=now), now
        silent_and_cool = now - last_sign >= after_s and now - alarms[-1] >= cooldown_s
        assert is_stuck(Facts(one, 0), now, rule) is silent_and_cool
        if silent_and_cool:
            one = replace(one, stuck_at=now)
            alarms.append(now)
