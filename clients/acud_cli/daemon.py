"""`acud daemon`: the daemon's own life."""

from __future__ import annotations

import os
from typing import NoReturn

import click

from acud import __version__
from acud.protocol.requests.status import StatusReply
from acud_cli import spawn
from acud_cli.exits import Exit
from acud_cli.render import fact
from acud_cli.session import Session, json_option, pass_session, print_lines, say, warn
from acud_cli.words import cost, count, duration
from acud_client.door import DoorState


@click.group(short_help="Start, stop and question the daemon.")
def daemon() -> None:
    """Start, stop and question the daemon. There is one per ACU_HOME."""


_debug = click.option("--debug", is_flag=True, help="Log everything (the same as ACU_DEBUG=1).")


@daemon.command("start", short_help="Start the daemon in the background.")
@_debug
@json_option
@pass_session
def start_daemon(session: Session, *, debug: bool) -> None:
    """Start the daemon in the background and return when it answers. Harmless when it runs already."""
    session.only_here("acud daemon start")
    with session.client() as client:
        already = client.door.look().state is DoorState.OPEN
        status = client.status() if already else spawn.start(session.paths, debug=debug)
    verb = "already running" if already else "started"
    session.show(status, lambda: say(f"{verb}: acud {status.version}, pid {status.pid}, {status.home}"))


@daemon.command("run", short_help="Run the daemon in the foreground.")
@_debug
@pass_session
def run_daemon(session: Session, *, debug: bool) -> NoReturn:
    """Run the daemon in the foreground, in place of this process; for systemd and for looking at it."""
    session.only_here("acud daemon run")
    os.environ["ACU_HOME"] = str(session.paths.home)
    line = spawn.command(debug=debug)
    os.execv(line[0], line)  # noqa: S606 - our own interpreter and module, no shell


@daemon.command("stop", short_help="End the daemon.")
@click.option("--keep-displays", is_flag=True, help="Leave managed displays running for the next start.")
@click.option("--force", is_flag=True, help="Kill it when it does not answer.")
@json_option
@pass_session
def stop_daemon(session: Session, *, keep_displays: bool, force: bool) -> None:
    """End the daemon and return when its process is gone. Managed displays end too; live waits stay armed for the
    next start. Harmless when it does not run."""
    pid = _stop(session, keep_displays=keep_displays, force=force)
    words = f"stopped (pid {pid})" if pid else "not running"
    session.show({"stopped": bool(pid), "pid": pid}, lambda: say(words))


def _stop(session: Session, *, keep_displays: bool, force: bool) -> int:
    with session.client() as client:
        return spawn.stop(client, keep_displays=keep_displays, force=force)


@daemon.command("restart", short_help="End the daemon and start it again.")
@_debug
@click.option("--end-displays", is_flag=True, help="End managed displays as well; they are kept otherwise.")
@click.option("--force", is_flag=True, help="Kill it when it does not answer.")
@json_option
@pass_session
def restart_daemon(session: Session, *, debug: bool, end_displays: bool, force: bool) -> None:
    """End the daemon and start it again. Waits go on, and so do managed displays."""
    session.only_here("acud daemon restart")
    old = _stop(session, keep_displays=not end_displays, force=force)
    status = spawn.start(session.paths, debug=debug)
    before = f"was pid {old}" if old else "was not running"
    session.show(status, lambda: say(f"started: acud {status.version}, pid {status.pid} ({before})"))


@daemon.command("status", short_help="Tell whether the daemon runs and how it is.")
@json_option
@pass_session
def status_of_daemon(session: Session) -> int:
    """Tell whether the daemon runs and how it is. Exit code: 0 it runs, 6 it does not."""
    with session.client() as client:
        status = client.status()
    session.show(status, lambda: _print_status(status))
    return Exit.OK


def _print_status(status: StatusReply) -> None:
    say(f"running: acud {status.version}, pid {status.pid}, for {duration(status.uptime_s)}")
    print_lines(fact(name, value) for name, value in _facts(status))
    for reason in status.degraded:
        warn(f"degraded: {reason}")
    if status.version != __version__:
        warn(f"note: this command line is {__version__}; acud daemon restart takes the new version")


def _facts(status: StatusReply) -> list[tuple[str, str]]:
    judges = ", ".join(f"{judge.name} {judge.state}" for judge in status.judges)
    return [
        ("home", status.home),
        ("waits", f"{status.waits_live} live, {status.waits_ended} ended"),
        ("displays", ", ".join(f"{one.name} {one.state}" for one in status.displays) or "none yet"),
        ("judges", judges or "none"),
        ("processes", _processes(status)),
        *((f"fleet {name}", value) for name, value in status.fleet.items()),
        *((f"web {name}" if name != "gateway" else "dashboard", url) for name, url in status.web.items()),
        ("judged", f"{count(status.judge_calls, 'judge call')}, today {cost(status.cost_usd_today)}"),
    ]


def _processes(status: StatusReply) -> str:
    ready = sum(child.state == "ready" for child in status.children)
    return f"supervisor ({status.rss_mb:.0f} MB), {ready} of {len(status.children)} children ready"
