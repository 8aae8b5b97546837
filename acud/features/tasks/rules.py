"""The lives of tasks, plan items and actions as tables, which tasks are stuck, and one line of text for each fact.

A move that is not in a table cannot happen; a move to itself is in it where a repeat is harmless: an agent that reports
"active" again shows that it lives. Texts may come from a screen: they are put on one line, so none can fake a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import Conflict
from acud.types.tasks import Action, ActionStatus, ItemStatus, PlanItem, Task, TaskStatus

_T, _I, _A = TaskStatus, ItemStatus, ActionStatus
TASK_MOVES: dict[TaskStatus, tuple[TaskStatus, ...]] = {
    _T.ACTIVE: (_T.ACTIVE, _T.PAUSED, _T.COMPLETED, _T.FAILED, _T.CANCELLED),
    _T.PAUSED: (_T.PAUSED, _T.ACTIVE, _T.COMPLETED, _T.FAILED, _T.CANCELLED),
    _T.COMPLETED: (),
    _T.FAILED: (),
    _T.CANCELLED: (),
}
# An agent may report an item only when it is done: it then began and ended in that moment.
ITEM_MOVES: dict[ItemStatus, tuple[ItemStatus, ...]] = {
    _I.PENDING: (_I.ACTIVE, _I.COMPLETED, _I.FAILED, _I.SKIPPED),
    _I.ACTIVE: (_I.ACTIVE, _I.COMPLETED, _I.FAILED, _I.SKIPPED),
    _I.COMPLETED: (),
    _I.FAILED: (),
    _I.SKIPPED: (),
}
ACTION_MOVES: dict[ActionStatus, tuple[ActionStatus, ...]] = {
    _A.STARTED: (_A.COMPLETED, _A.FAILED, _A.CANCELLED),
    _A.COMPLETED: (),
    _A.FAILED: (),
    _A.CANCELLED: (),
}


def utc_text(utc_s: float) -> str:
    """Return a time in UTC to the second: `2026-03-01T09:30:00Z`."""
    return datetime.fromtimestamp(utc_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def one_line(text: str, length: int) -> str:
    """Return `text` on one line of printable characters, cut to `length` with an ellipsis."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= length else line[: max(0, length - 1)] + "…"


def progress(items: tuple[PlanItem, ...]) -> str:
    """Return the progress of a plan: `2 of 5 items done`, skipped ones counted as done, failed ones named."""
    done = sum(item.status in (ItemStatus.COMPLETED, ItemStatus.SKIPPED) for item in items)
    failed = sum(item.status is ItemStatus.FAILED for item in items)
    return f"{done} of {len(items)} items done" + (f", {failed} failed" if failed else "")


def headline(task: Task, items: tuple[PlanItem, ...]) -> str:
    return f'task {task.task_id} {task.status} ({progress(items)}): "{one_line(task.name, 200)}"'


def current_item(items: tuple[PlanItem, ...]) -> PlanItem | None:
    """Return the item in progress: the active one started last, else the first pending one."""
    active = [item for item in items if item.status is ItemStatus.ACTIVE]
    if active:
        return max(active, key=lambda item: (item.started_at or 0.0, item.number))
    return next((item for item in items if item.status is ItemStatus.PENDING), None)


Status = TypeVar("Status", bound=StrEnum)


class IllegalTaskMove(Conflict):
    """A move that the table does not have; message and facts describe the current state."""


def has_task_ended(status: TaskStatus) -> bool:
    return not TASK_MOVES[status]


def move_task(task: Task, to: TaskStatus, at: float) -> Task:
    """Return the task after the move. Raises: IllegalTaskMove."""
    since = task.ended_at if task.ended_at is not None else task.updated_at
    _check_move(TASK_MOVES, f'task {task.task_id} "{one_line(task.name, 80)}"', task.status, to, since)
    return replace(task, status=to, updated_at=at, ended_at=at if has_task_ended(to) else None)


def move_item(item: PlanItem, to: ItemStatus, at: float) -> PlanItem:
    """Return the item after the move, with its times. Raises: IllegalTaskMove."""
    since = item.completed_at if item.completed_at is not None else item.started_at
    _check_move(ITEM_MOVES, f'item {item.number} "{one_line(item.title, 80)}"', item.status, to, since)
    started = at if item.started_at is None else item.started_at
    if to is ItemStatus.ACTIVE:
        return replace(item, status=to, started_at=started)
    begun = item.started_at if to is ItemStatus.SKIPPED else started
    took = None if begun is None else round(max(0.0, at - begun), 3)
    return replace(item, status=to, started_at=begun, completed_at=at, duration_seconds=took)


def move_action(action: Action, to: ActionStatus, at: float) -> Action:
    """Return the action after the move, with its duration. Raises: IllegalTaskMove."""
    _check_move(ACTION_MOVES, f"action {action.action_id}", action.status, to, action.created_at)
    return replace(action, status=to, duration_ms=round(max(0.0, at - action.created_at) * 1000, 1))


def _check_move(
    table: Mapping[Status, tuple[Status, ...]], what: str, now: Status, to: Status, since: float | None
) -> None:
    if to in table[now]:
        return
    when = f" since {utc_text(since)}" if since else ""
    legal = ", ".join(status.value for status in table[now] if status is not now)
    hint = f"from {now} it can become {legal}" if legal else "it has ended: add a new one instead"
    raise IllegalTaskMove(f"{what} is {now}{when}; it cannot become {to}", hint=hint, status=now.value, move=to.value)


class StuckRule(Struct, frozen=True):
    """The two spans in seconds: of silence before the first alarm, and between two alarms of one task."""

    after_s: float = 300.0
    cooldown_s: float = 300.0


class TaskFacts(Struct, frozen=True):
    """A task and the number of its watching waits: a task that waits is not stuck."""

    task: Task
    live_waits: int


def is_stuck(facts: TaskFacts, now: float, rule: StuckRule) -> bool:
    """Return whether to alert the agent now. A clock that was set back (`now` before the last sign) never alerts."""
    task = facts.task
    if task.status is not TaskStatus.ACTIVE or facts.live_waits:
        return False
    cooled = task.stuck_at is None or now - task.stuck_at >= rule.cooldown_s
    return cooled and now - task.updated_at >= rule.after_s


def stuck_tasks(tasks: Iterable[TaskFacts], nows: Mapping[str, float], rule: StuckRule) -> tuple[str, ...]:
    """Return the ids of the tasks to resume, longest silence first. `nows`: the time for each (`SteadyTimes`)."""
    found = [facts.task for facts in tasks if is_stuck(facts, nows[facts.task.task_id], rule)]
    silence = {task.task_id: nows[task.task_id] - task.updated_at for task in found}
    return tuple(sorted(silence, key=lambda task_id: (-silence[task_id], task_id)))


class SteadyTimes:
    """The current time for each task's stamps (wall clock), by a clock that is never stepped.

    A stamp known from the check before has aged by the time since then; a new one is no older than that check. After a
    start the wall clock is trusted once: it may be another boot.
    """

    def __init__(self) -> None:
        self._seen: dict[str, tuple[tuple[float, float | None], float]] = {}
        self._checked_s: float | None = None

    def nows(self, tasks: Iterable[Task], utc_s: float, boot_s: float) -> dict[str, float]:
        """Return the time now by task id; call it at each check, with all tasks."""
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
