"""Which tasks lie still: active, without a sign of life for a while, and waiting for nothing."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from acud.tasks.nouns import Task, TaskStatus


class Rule(Struct, frozen=True):
    """The two spans in seconds: of silence before the first alarm, and between two alarms of one task."""

    after_s: float = 300.0
    cooldown_s: float = 300.0


class Facts(Struct, frozen=True):
    """A task, and how many of its waits are watching: a task that waits is not stuck."""

    task: Task
    live_waits: int


def is_stuck(facts: Facts, now: float, rule: Rule) -> bool:
    """Tell whether the agent is to be told now. A clock set back (`now` before the last sign) tells nothing."""
    task = facts.task
    if task.status is not TaskStatus.ACTIVE or facts.live_waits:
        return False
    cooled = task.stuck_at is None or now - task.stuck_at >= rule.cooldown_s
    return cooled and now - task.updated_at >= rule.after_s


def stuck(tasks: Iterable[Facts], now: float, rule: Rule) -> tuple[str, ...]:
    """Return the ids of the tasks to resume, longest silence first."""
    found = [facts.task for facts in tasks if is_stuck(facts, now, rule)]
    return tuple(task.task_id for task in sorted(found, key=lambda task: (task.updated_at, task.task_id)))
