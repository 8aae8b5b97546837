"""Which tasks lie still: active, without a sign of life for a while, and waiting for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from acud.types.tasks import Task, TaskStatus


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


def stuck(tasks: Iterable[Facts], nows: Mapping[str, float], rule: Rule) -> tuple[str, ...]:
    """Return the ids of the tasks to resume, longest silence first. `nows`: what time it is for each (`Steady`)."""
    found = [facts.task for facts in tasks if is_stuck(facts, nows[facts.task.task_id], rule)]
    silence = {task.task_id: nows[task.task_id] - task.updated_at for task in found}
    return tuple(sorted(silence, key=lambda task_id: (-silence[task_id], task_id)))


class Steady:
    """What time it is for each task's stamps, which are the wall clock's, by a clock that nobody steps.

    A stamp that was there at the check before is as old as it was then, and what passed since; a new one is no older
    than that check. After a start the wall clock is believed once: it may be another boot.
    """

    def __init__(self) -> None:
        self._seen: dict[str, tuple[tuple[float, float | None], float]] = {}
        self._checked_s: float | None = None

    def nows(self, tasks: Iterable[Task], utc_s: float, boot_s: float) -> dict[str, float]:
        """Return the time now by task id; to be asked at each check, about all tasks that there are then."""
        seen, found = {}, {}
        for task in tasks:
            stamps = task.updated_at, task.stuck_at
            newest = max(task.updated_at, task.stuck_at or task.updated_at)
            before = self._seen.get(task.task_id)
            known = before is not None and before[0] == stamps
            since_s = before[1] if before is not None and known else boot_s - self._age_s(newest, utc_s, boot_s)
            seen[task.task_id] = stamps, since_s
            found[task.task_id] = newest + boot_s - since_s
        self._seen, self._checked_s = seen, boot_s
        return found

    def _age_s(self, stamp: float, utc_s: float, boot_s: float) -> float:
        age_s = max(0.0, utc_s - stamp)
        return age_s if self._checked_s is None else min(age_s, boot_s - self._checked_s)
