"""`acud status`, `acud usage`, `acud metrics` and `acud top`: what the daemon reports about itself."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from acud import __version__
from acud.base.extras import require
from acud.protocol.requests.daemon import MetricsReply, StatusReply, UsageReply
from acud.types import screen_cover
from acud_cli.exit_codes import Exit
from acud_cli.formatting import FittedTable, cost, count, duration, in_words, plain
from acud_cli.options import WholeNumber, choose_task, watch_option
from acud_cli.session import Session, pass_session, print_table, say, warn

if TYPE_CHECKING:
    from acud.types import DisplayInfo


_COLUMNS = 60
_INDENT = 13


@click.command(short_help="Show the daemon, displays, waits, judges and warnings.")
@watch_option
@pass_session
def status(session: Session, *, watch: bool) -> int:
    """Show whether the daemon runs, and how it is: version, displays, waits by state, judges, the routes that wake
    agents, and every reason why it is not fully well. `acud daemon status` is the same; `acud doctor` names the fixes.

    Exit code: 0 it runs (with warnings too), 6 it does not run or does not answer.

    \b
    acud status
    acud status --watch
    acud status --json
    """
    client = session.client()
    if watch:
        session.watch(client.status, _print_status)
        return Exit.OK
    reply = client.status()
    session.show(reply, lambda: _print_status(reply))
    return Exit.OK


def _print_status(reply: StatusReply) -> None:
    say(f"running: acud {reply.version}, pid {reply.pid}, for {duration(reply.uptime_s)}")
    for name, value in _list_facts(reply):
        _print_fact(name, value)
    for reason in reply.degraded:
        _warn_wrapped(f"degraded: {in_words(reason)}")
    if reply.version != __version__:
        _warn_wrapped(f"note: this command line is {__version__}; acud daemon restart takes the new version")


def _print_fact(name: str, value: str) -> None:
    """Print `name  value` within 60 columns; a word that is longer, such as a path, stays whole."""
    lines = wrap(plain(value), _COLUMNS - _INDENT, break_long_words=False, break_on_hyphens=False) or [""]
    for line in lines:
        say(f"  {name:<10} {line}".rstrip())
        name = ""


def _warn_wrapped(text: str) -> None:
    for line in wrap(plain(text), _COLUMNS, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False):
        warn(line)


def _list_facts(reply: StatusReply) -> Iterator[tuple[str, str]]:
    yield "home", reply.home
    for place, one in enumerate(reply.displays):
        yield "displays" if place == 0 else "", _format_display(one)
    if not reply.displays:
        yield "displays", "none yet"
    yield "waits", _describe_counts(reply.waits) or "none"
    for wait_id, reason in reply.hidden_waits.items():
        yield "", f"{wait_id}: {in_words(reason)}"
    for place, judge in enumerate(reply.judges):
        reason = f": {in_words(judge.reason)}" if judge.reason else ""
        yield "judges" if place == 0 else "", f"{judge.name} {judge.state}{reason}"
    if not reply.judges:
        yield "judges", "none"
    yield "wake route", ", ".join(reply.wake_routes) or "none: results wait to be fetched"
    if reply.wakes:
        yield "wakes", _describe_counts(reply.wakes)
    yield "processes", _describe_processes(reply)
    for name, value in reply.fleet.items():
        yield f"fleet {name}", value
    for name, url in reply.web.items():
        yield f"web {name}" if name != "gateway" else "dashboard", url
    yield "judged", f"{count(reply.judge_calls, 'judge call')}, today {cost(reply.cost_usd_today)}"


def _format_display(one: DisplayInfo) -> str:
    size = f" {one.width}x{one.height}" if one.width else ""
    cover = screen_cover(one.windows)
    marks = (["default"] if one.is_default else []) + ([f"taken by {one.taken_by}"] if one.taken_by else [])
    marks += [f"locked or hidden by {cover.title or cover.wm_class or hex(cover.window_id)}"] if cover else []
    return f"{one.name} {one.state}{size}{' (' + ', '.join(marks) + ')' if marks else ''}"


def _describe_counts(numbers: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in numbers.items() if number)


def _describe_processes(reply: StatusReply) -> str:
    ready = sum(child.state == "ready" for child in reply.children)
    return f"supervisor ({reply.rss_mb:.0f} MB), {ready} of {len(reply.children)} children ready"


@click.command(short_help="Show what judges and models cost.")
@click.option("--days", type=WholeNumber(1, 3650), default=7, show_default=True, help="Today and the days before it.")
@choose_task("Of this task alone.")
@pass_session
def usage(session: Session, *, days: int, task_id: str) -> None:
    """Show answers, tokens and dollars by day (UTC), purpose, judge, model and task.

    Purposes: wait (a condition), effect (of what was done), find, agent, annotate, commentary.

    \b
    acud usage
    acud usage --days 30 --task e0471d
    """
    reply = session.client().usage(days=days, task_id=task_id)
    session.show(reply, lambda: _print_usage(reply))


def _print_usage(reply: UsageReply) -> None:
    if not reply.rows:
        say("nothing was asked")
        return
    table = FittedTable("day, purpose, cost, answers, judge, model+-, tokens in-, tokens out-, unpriced-, task")
    for row in reply.rows:
        tokens = ["-" if amount is None else str(amount) for amount in (row.tokens_in, row.tokens_out)]
        names = (plain(row.judge), plain(row.model) or "-")
        spent = (row.purpose, cost(row.cost_usd), str(row.evaluations))
        table.add_row(row.day, *spent, *names, *tokens, str(row.unpriced), row.task_id or "-")
    print_table(table)
    unpriced = f", {count(reply.unpriced, 'answer')} of unknown cost" if reply.unpriced else ""
    say(f"{count(reply.evaluations, 'answer')}, {cost(reply.cost_usd)}{unpriced}; kept for {reply.kept_days:g} days")


@click.command(short_help="Print the daemon's metrics in Prometheus format.")
@pass_session
def metrics(session: Session) -> None:
    """Print what the daemon measures, as Prometheus reads it; docs/metrics.md explains each figure.

    \b
    acud metrics
    """
    if not session.json:
        require("web", "the Prometheus format")
    reply = session.client().metrics()
    session.show(reply, lambda: _print_exposition(reply))


def _print_exposition(reply: MetricsReply) -> None:
    from acud_client.exposition import text

    print(text(reply.metrics), end="", flush=True)
