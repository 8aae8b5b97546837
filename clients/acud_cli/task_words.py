"""Tasks in words and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from acud.tasks.nouns import ActionView, Message, PlanItem, TaskView
from acud_cli.plain import shortened
from acud_cli.render import bare_table
from acud_cli.words import cost, count, duration, local_moment, milliseconds

if TYPE_CHECKING:
    from rich.table import Table


def task_line(view: TaskView) -> str:
    """Return a task in one line."""
    one = view.task
    where = f", on {one.display}" if one.display else ""
    waits = f", {count(view.live_waits, 'live wait')}" if view.live_waits else ""
    return f"{one.task_id} {one.status}: {one.name}{where}{waits}"


def task_table(views: tuple[TaskView, ...]) -> Table:
    """Return tasks, one a row."""
    table = bare_table("id", "status", "done", "display", "waits", "updated", "name", flexible=("name",))
    for view in views:
        one = view.task
        done = sum(item.completed_at is not None for item in view.items)
        row = [one.task_id, one.status.value, f"{done}/{len(view.items)}", one.display or "-", str(view.live_waits)]
        table.add_row(*row, local_moment(one.updated_at), shortened(one.name, 80))
    return table


def item_table(items: tuple[PlanItem, ...]) -> Table:
    """Return plan items, one a row."""
    table = bare_table("#", "status", "took", "actions", "title", flexible=("title",))
    for item in items:
        took = "-" if item.duration_seconds is None else duration(item.duration_seconds)
        failed = f" ({item.failed_actions} failed)" if item.failed_actions else ""
        table.add_row(str(item.ordinal), item.status.value, took, f"{item.actions}{failed}", shortened(item.title, 200))
    return table


def action_lines(views: tuple[ActionView, ...]) -> Iterator[str]:
    """Yield actions with their logs below them."""
    for view in views:
        one = view.action
        facts = [one.action_type.value, one.status.value]
        facts += [milliseconds(one.duration_ms)] if one.duration_ms is not None else []
        facts += [one.judge, cost(one.cost_usd)] if one.judge else []
        yield f"{local_moment(one.created_at)}  {one.summary}  ({', '.join(facts)})"
        for log in view.logs:
            yield f"    {log.log_type}: {log.content}"


def thread_lines(messages: tuple[Message, ...]) -> Iterator[str]:
    """Yield a thread, oldest first."""
    for one in messages:
        yield f"{local_moment(one.created_at)}  {one.role}: {one.content}"
