"""`acud top`: displays, waits and processes on one screen."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click
import msgspec

from acud.errors import AcudError, DaemonDown
from acud.protocol.requests.daemon import StatusReply
from acud.protocol.requests.waits import WaitListReply
from acud_cli.display import display_row
from acud_cli.exit_codes import Exit
from acud_cli.formatting import bare_table, cost, count, duration, plain, shortened
from acud_cli.options import DURATION
from acud_cli.session import Session, console, json_option, pass_session, print_table
from acud_cli.wait_text import wait_table
from acud_client.sync import Client

if TYPE_CHECKING:
    from rich.console import RenderableType

_SHOWN_WAITS = 20


class TopSnapshot(msgspec.Struct, frozen=True):
    """One reading."""

    status: StatusReply
    waits: WaitListReply


@click.command(short_help="Show displays, waits and processes, live.")
@click.option("--once", is_flag=True, help="Print it once and return.")
@click.option("--interval", type=DURATION, default=1.0, show_default=True, help="Between two readings.")
@json_option
@pass_session
def top(session: Session, *, once: bool, interval: float) -> int:
    """Show displays with frame rate and frame age, waits with their newest verdict, processes, judges and cost.

    Live on a terminal (Ctrl-C ends it); with --once, with --json or into a pipe it prints one reading.
    """
    with session.client() as client:
        if once or session.json or not sys.stdout.isatty():
            view = _read(client)
            session.show(view, lambda: print_table(render(view)))
            return Exit.OK
        return _live(client, max(0.2, interval))


def _read(client: Client) -> TopSnapshot:
    return TopSnapshot(client.status(), client.wait_list(limit=_SHOWN_WAITS))


def _live(client: Client, interval_s: float) -> int:
    from rich.live import Live

    try:
        with Live(render(_read(client)), console=console(), screen=True, auto_refresh=False) as live:
            while True:
                time.sleep(interval_s)
                live.update(_again(client), refresh=True)
    except KeyboardInterrupt:
        return Exit.OK


def _again(client: Client) -> RenderableType:
    try:
        return render(_read(client))
    except DaemonDown as fault:
        return _away(fault)


def _away(fault: AcudError) -> RenderableType:
    from rich.text import Text

    return Text(plain(str(fault)), style="bold red")


def render(view: TopSnapshot) -> RenderableType:
    """Return one reading as a screenful."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(plain(_headline(view.status)), style="bold")]
    parts += [Text(f"degraded: {plain(reason)}", style="yellow") for reason in view.status.degraded]
    parts += [Text(), _displays(view.status), Text(), _waits(view.waits), Text(), _children(view.status)]
    return Group(*parts)


def _headline(status: StatusReply) -> str:
    judges = ", ".join(f"{judge.name} {judge.state}" for judge in status.judges)
    numbers = f"{count(status.waits_live, 'live wait')}, {status.waits_ended} ended, {status.queued_jobs} jobs queued"
    spent = f"{count(status.judge_calls, 'judge call')}, {cost(status.cost_usd_today)} today"
    return f"acud {status.version}, pid {status.pid}, up {duration(status.uptime_s)}: {numbers}; {spent}; {judges}"


def _displays(status: StatusReply) -> RenderableType:
    table = bare_table("DISPLAY", "state", "size", "kind", "frame", "age", "fps", "grab", "windows")
    for one in status.displays:
        table.add_row(*display_row(one))
    return table


def _waits(reply: WaitListReply) -> RenderableType:
    table = wait_table(reply.waits)
    table.columns[0].header = "WAIT"
    if reply.total > len(reply.waits):
        table.caption = f"{reply.total - len(reply.waits)} more"
    return table


def _children(status: StatusReply) -> RenderableType:
    table = bare_table("PROCESS", "state", "pid", "MB", "jobs", "restarts", "beat", "")
    for child in status.children:
        beat = "-" if child.beat_age_s is None else f"{child.beat_age_s:.1f} s"
        numbers = [str(child.pid), f"{child.rss_mb:.0f}", str(child.busy_jobs), str(child.restarts), beat]
        table.add_row(plain(f"{child.kind} {child.name}"), plain(child.state), *numbers, shortened(child.reason, 50))
    return table
