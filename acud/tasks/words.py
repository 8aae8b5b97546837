"""Facts of a task as one line of text each. Texts may come from a screen: they are folded, so none can fake a line."""

from __future__ import annotations

from datetime import UTC, datetime

from acud.types.tasks import ItemStatus, PlanItem, Task


def moment(utc_s: float) -> str:
    """Return a time in UTC to the second: `2026-03-01T09:30:00Z`."""
    return datetime.fromtimestamp(utc_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def folded(text: str, length: int) -> str:
    """Return `text` on one line of printable characters, cut to `length` with an ellipsis."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= length else line[: max(0, length - 1)] + "…"


def progress(items: tuple[PlanItem, ...]) -> str:
    """Return how far a plan is: `2 of 5 items done`, skipped ones counted as done, failed ones named."""
    done = sum(item.status in (ItemStatus.COMPLETED, ItemStatus.SKIPPED) for item in items)
    failed = sum(item.status is ItemStatus.FAILED for item in items)
    return f"{done} of {len(items)} items done" + (f", {failed} failed" if failed else "")


def headline(task: Task, items: tuple[PlanItem, ...]) -> str:
    """Return a task in one line."""
    return f'task {task.task_id} {task.status} ({progress(items)}): "{folded(task.name, 200)}"'


def focus(items: tuple[PlanItem, ...]) -> PlanItem | None:
    """Return the item that is worked on: the active one started last, else the first pending one."""
    active = [item for item in items if item.status is ItemStatus.ACTIVE]
    if active:
        return max(active, key=lambda item: (item.started_at or 0.0, item.ordinal))
    return next((item for item in items if item.status is ItemStatus.PENDING), None)
