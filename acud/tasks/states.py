"""The lives of tasks, plan items and actions as tables: what is not in them cannot happen.

A move to itself stands in a table where a repeat is harmless: an agent that says "active" again says that it lives.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from msgspec.structs import replace

from acud.errors import Conflict
from acud.tasks.words import folded, moment
from acud.types.tasks import (
    Action,
    ActionStatus,
    ItemStatus,
    PlanItem,
    Task,
    TaskStatus,
)

Status = TypeVar("Status", bound=StrEnum)


class IllegalMove(Conflict):
    """A move that the table does not have; message and facts say what led there."""


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


def task_ended(status: TaskStatus) -> bool:
    """Tell whether no move leads out of `status`."""
    return not TASK_MOVES[status]


def task_moved(task: Task, to: TaskStatus, at: float) -> Task:
    """Return the task after the move. Raises: IllegalMove."""
    since = task.ended_at if task.ended_at is not None else task.updated_at
    _check(TASK_MOVES, f'task {task.task_id} "{folded(task.name, 80)}"', task.status, to, since)
    return replace(task, status=to, updated_at=at, ended_at=at if task_ended(to) else None)


def item_moved(item: PlanItem, to: ItemStatus, at: float) -> PlanItem:
    """Return the item after the move, with its times. Raises: IllegalMove."""
    since = item.completed_at if item.completed_at is not None else item.started_at
    _check(ITEM_MOVES, f'item {item.ordinal} "{folded(item.title, 80)}"', item.status, to, since)
    started = at if item.started_at is None else item.started_at
    if to is ItemStatus.ACTIVE:
        return replace(item, status=to, started_at=started)
    begun = item.started_at if to is ItemStatus.SKIPPED else started
    took = None if begun is None else round(max(0.0, at - begun), 3)
    return replace(item, status=to, started_at=begun, completed_at=at, duration_seconds=took)


def action_moved(action: Action, to: ActionStatus, at: float) -> Action:
    """Return the action after the move, with its duration. Raises: IllegalMove."""
    _check(ACTION_MOVES, f"action {action.action_id}", action.status, to, action.created_at)
    return replace(action, status=to, duration_ms=round(max(0.0, at - action.created_at) * 1000, 1))


def _check(table: Mapping[Status, tuple[Status, ...]], what: str, now: Status, to: Status, since: float | None) -> None:
    if to in table[now]:
        return
    when = f" since {moment(since)}" if since else ""
    legal = ", ".join(status.value for status in table[now] if status is not now)
    hint = f"from {now} it can become {legal}" if legal else "it has ended: add a new one instead"
    raise IllegalMove(f"{what} is {now}{when}; it cannot become {to}", hint=hint, status=now.value, move=to.value)


def diagram(noun: str, first: str, table: Mapping[Status, tuple[Status, ...]]) -> str:
    """Return a table as a Mermaid state diagram; `docs/tasks.md` holds copies, and a test compares them."""
    lines = ["stateDiagram-v2", f"    [*] --> {first}: new {noun}"]
    for status, moves in table.items():
        lines += [f"    {status} --> {to}" for to in moves if to is not status]
        lines += [] if moves else [f"    {status} --> [*]"]
    return "\n".join(lines)
