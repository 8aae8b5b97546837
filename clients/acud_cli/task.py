"""`acud task`: what an agent is at: tasks, their plans, actions and threads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from acud.protocol.requests.tasks import TaskListReply, TaskReply
from acud.types import Budget
from acud.types.tasks import (
    ActionStatus,
    ActionType,
    ActionView,
    Detail,
    ItemStatus,
    Message,
    PlanItem,
    TaskStatus,
    TaskView,
)
from acud_cli.formatting import FittedTable, cost, count, duration, local_moment, milliseconds, moment, shorten
from acud_cli.options import (
    DURATION,
    SIZE,
    EnumChoice,
    WholeNumber,
    complete_tasks,
    label_option,
    labels_of,
    limit_option,
    pick,
    read_list,
    zip_option,
)
from acud_cli.session import Session, pass_session, print_table, say, say_all
from acud_cli.wait_options import budget_options, print_notes, replace_given


@click.group(short_help="Tasks: plan, actions, thread, display.")
def task() -> None:
    """Tasks of agents: each has a plan, actions, a thread and a display. An id may be cut short: its ending, which
    lists show, or its beginning is enough while it is unique.
    """


_task_id = click.argument("task_id", metavar="ID", shell_complete=complete_tasks)
_item = click.argument("item", type=WholeNumber(1), metavar="ITEM")
_note = click.option("--note", default="", metavar="TEXT", help="Why; goes into the thread.")


class JsonValue(click.ParamType[Any]):
    """A JSON value; other text stays plain text."""

    name = "json"

    def convert(self, value: Any, _param: click.Parameter | None, _ctx: click.Context | None) -> Any:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value


def _show_task(session: Session, reply: TaskReply) -> None:
    print_notes(reply.notes)
    session.show(reply, lambda: _print_view(reply))


def _print_view(reply: TaskReply) -> None:
    say(task_line(reply.view))
    if reply.view.items:
        print_table(item_table(reply.view.items))
    say_all(reply.answer.splitlines())


@task.command("register", short_help="Begin a task.")
@click.argument("name")
@click.argument("plan", nargs=-1, metavar="[ITEM]...")
@click.option("--agent", "agent_id", default="", metavar="ID", help="Whose task it is.")
@click.option("--metadata", type=JsonValue(), default="{}", metavar="JSON", help="An object, kept with the task.")
@click.option("--size", type=SIZE, help="Of its display, such as 1280x720.")
@click.option("--shared-display", is_flag=True, help="No display of its own: it uses the default one.")
@label_option
@budget_options
@pass_session
def register_task(session: Session, *, name: str, plan: tuple[str, ...], **options: Any) -> None:
    """Begin the task NAME with the plan ITEM..., on a display of its own.

    \b
    acud task register "Book the flight" "open the site" "choose a date" "pay"
    """
    if not isinstance(options["metadata"], dict):
        raise click.UsageError("--metadata must be a JSON object")
    width, height = options["size"] or (0, 0)
    reply = session.client().task_register(
        name,
        plan,
        **pick(options, "metadata", "agent_id"),
        isolated_display=not options["shared_display"],
        display_width=width,
        display_height=height,
        budget=replace_given(Budget(), options),
        labels=labels_of(options["labels"]),
    )
    _show_task(session, reply)


@task.command("list", short_help="List tasks, newest first.")
@click.option("--all", "ended", is_flag=True, help="Ended ones too.")
@click.option("--status", "statuses", multiple=True, type=EnumChoice(TaskStatus), help="Only these (may be repeated).")
@limit_option(200, 20)
@pass_session
def list_tasks(session: Session, *, ended: bool, statuses: tuple[TaskStatus, ...], limit: int) -> None:
    """List the active and paused tasks, newest first; with --all or --status the ended ones too.

    \b
    acud task list
    acud task list --all
    acud task list --status failed
    """
    client = session.client()

    def read(most: int, offset: int) -> TaskListReply:
        return client.task_list(statuses=statuses, ended=ended, limit=most, offset=offset)

    reply = read_list(session, read, "tasks", limit, 200, lambda view: view.task.task_id)

    def human() -> None:
        if reply.tasks:
            print_table(task_table(reply.tasks))
        else:
            say("no tasks")
        if reply.total > len(reply.tasks) > 0:
            say(f"… and {reply.total - len(reply.tasks)} more (--limit)")

    session.show(reply, human)


@task.command("show", short_help="Show one task.")
@_task_id
@click.option("--detail", type=EnumChoice(Detail), default="items", show_default=True, help="How much to tell.")
@click.option("--max-tokens", type=WholeNumber(60, 100_000), default=1500, show_default=True, help="At most so long.")
@pass_session
def show_task(session: Session, *, task_id: str, detail: Detail, max_tokens: int) -> None:
    """Show one task: its plan, with --detail actions what was done, full everything, focused the active item.

    \b
    acud task show e0471d
    acud task show e0471d --detail focused --max-tokens 400
    """
    reply = session.client().task_summary(task_id, detail_level=detail, max_tokens=max_tokens, as_data=session.json)
    session.show(reply, lambda: say_all(reply.summary.splitlines()))


@task.command("say", short_help="Add a message to the thread.")
@_task_id
@click.argument("message")
@pass_session
def say_in_task(session: Session, *, task_id: str, message: str) -> None:
    """Add MESSAGE to the thread of a task; it counts as a sign of life.

    \b
    acud task say e0471d "still at it"
    """
    reply = session.client().task_update(task_id, message=message)
    _show_task(session, reply)


@task.command("status", short_help="Pause, resume or end a task.")
@_task_id
@click.argument("status", type=EnumChoice(TaskStatus))
@click.option("--message", default="", metavar="TEXT", help="Why; goes into the thread.")
@pass_session
def move_task(session: Session, *, task_id: str, status: TaskStatus, message: str) -> None:
    """Set the status of a task.

    Pausing stops judging; deadlines run on. Ending a task cancels its waits and ends its display.

    \b
    acud task status e0471d paused
    acud task status e0471d completed --message "the ticket is in the mail"
    """
    reply = session.client().task_update(task_id, message=message, status=status)
    _show_task(session, reply)


@task.command("budget", short_help="Say what a task may cost.")
@_task_id
@budget_options
@pass_session
def fund_task(session: Session, *, task_id: str, **options: Any) -> None:
    """Change the budget of a task, for all its waits together. Only what is given changes; what is spent stays spent.

    What it cost so far: acud usage --task ID.

    \b
    acud task budget e0471d --max-cost 0.50
    """
    client = session.client()
    view = client.task_summary(task_id, as_data=True).view
    budget = replace_given(view.task.budget if view is not None else Budget(), options)
    reply = client.task_update(task_id, budget=budget)
    _show_task(session, reply)


@task.command("item", short_help="Set the status of a plan item.")
@_task_id
@_item
@click.argument("status", type=EnumChoice(ItemStatus))
@_note
@pass_session
def move_item(session: Session, *, task_id: str, item: int, status: ItemStatus, note: str) -> None:
    """Set the status of the plan item ITEM; the first is 1.

    \b
    acud task item e0471d 1 completed
    acud task item e0471d 2 active --note "the site is slow"
    """
    reply = session.client().task_item_update(task_id, item, status, note=note)
    _show_task(session, reply)


@task.command("append", short_help="Add plan items.")
@_task_id
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@_note
@pass_session
def append_items(session: Session, *, task_id: str, items: tuple[str, ...], note: str) -> None:
    """Add ITEM... at the end of the plan.

    \b
    acud task append e0471d "choose a seat" "print the ticket"
    """
    reply = session.client().task_plan_append(task_id, items, note=note)
    _show_task(session, reply)


@task.command("log", short_help="Log an action.")
@_task_id
@click.argument("action_type", metavar="TYPE", type=EnumChoice(ActionType))
@click.argument("summary")
@click.option("--input", "input_data", type=JsonValue(), metavar="JSON", help="What went in (JSON, or any text).")
@click.option(
    "output_data",
    "--result",
    "--output",
    type=JsonValue(),
    metavar="JSON",
    help="What came out. --output: its former name, until 0.3.",
)
@click.option("--status", type=EnumChoice(ActionStatus), default="completed", show_default=True, help="How it went.")
@click.option("--item", type=WholeNumber(1), help="The plan item, from 1 (default: the active one).")
@click.option("--took", type=DURATION, help="How long it took.")
@pass_session
def log_action(session: Session, *, task_id: str, action_type: ActionType, summary: str, **options: Any) -> None:
    """Log an action of TYPE (cli, gui, wait, vision, reasoning, other) in one sentence.

    \b
    acud task log e0471d gui "clicked Search" --took 0.4s --item 2
    """
    reply = session.client().task_log_action(
        task_id,
        action_type,
        summary,
        **pick(options, "input_data", "output_data", "status", "item"),
        duration_ms=None if options["took"] is None else options["took"] * 1000,
    )
    where = "the task" if reply.action.item is None else f"item {reply.action.item}"
    session.show(reply, lambda: say(f"logged under {where}"))


@task.command("drill", short_help="Show a plan item with its actions.")
@_task_id
@_item
@limit_option(1000, 50, "Show at most this many, the newest.")
@pass_session
def drill_down(session: Session, *, task_id: str, item: int, limit: int) -> None:
    """Show the plan item ITEM with its actions and their logs; the first is 1.

    \b
    acud task drill e0471d 2
    """
    reply = session.client().task_drill_down(task_id, item, limit=limit)

    def human() -> None:
        print_table(item_table((reply.item,)))
        say_all(action_lines(reply.actions))

    session.show(reply, human)


@task.command("thread", short_help="Show what was said.")
@_task_id
@limit_option(1000, 50, "Show at most this many, the newest.")
@pass_session
def show_thread(session: Session, *, task_id: str, limit: int) -> None:
    """Show the thread of a task, oldest first.

    \b
    acud task thread e0471d
    """
    reply = session.client().task_thread(task_id, limit=limit)
    session.show(reply, lambda: say_all(thread_lines(reply.messages)))


@task.command("export", short_help="Write everything of a task to a ZIP file.")
@_task_id
@zip_option
@pass_session
def export_task(session: Session, *, task_id: str, output: Path) -> None:
    """Write everything of a task to a ZIP file: plan, actions, messages, waits with verdicts and pictures, videos.

    Texts, videos and evidence are redacted only by [redaction]: look at the file before you pass it on.

    \b
    acud task export e0471d -o flight.zip
    """
    from acud_cli.record import export_to

    export_to(session, task_id, output)


@task.command("delete", short_help="Forget a task.")
@_task_id
@pass_session
def delete_task(session: Session, *, task_id: str) -> None:
    """Forget a task with all that was kept of it. Its waits are cancelled and its display ends.

    \b
    acud task delete e0471d
    """
    reply = session.client().task_delete(task_id)
    session.show(reply, lambda: say(f"deleted {reply.task_id}, {count(reply.waits_cancelled, 'wait')} cancelled"))


def task_line(view: TaskView) -> str:
    one = view.task
    where = f", on {one.display}" if one.display else ""
    waits = f", {count(view.live_waits, 'live wait')}" if view.live_waits else ""
    return f"{one.name}: {one.status}{where}{waits}  ({one.task_id})"


def task_table(views: tuple[TaskView, ...]) -> FittedTable:
    table = FittedTable("status, name+, done, display-, waits-, updated-, id")
    for view in views:
        one = view.task
        done = sum(item.completed_at is not None for item in view.items)
        name, steps = shorten(one.name, 80), f"{done}/{len(view.items)}"
        row = [one.status.value, name, steps, one.display or "-", str(view.live_waits)]
        table.add_row(*row, moment(one.updated_at), one.task_id)
    return table


def item_table(items: tuple[PlanItem, ...]) -> FittedTable:
    table = FittedTable("#, status, title+, took-, actions-")
    for item in items:
        took = "-" if item.duration_seconds is None else duration(item.duration_seconds)
        failed = f" ({item.failed_actions} failed)" if item.failed_actions else ""
        title = shorten(item.title, 200)
        table.add_row(str(item.number), item.status.value, title, took, f"{item.actions}{failed}")
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
