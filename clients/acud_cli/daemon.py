"""`acud daemon`: the daemon's own life; `acud config`: check the settings before a daemon is started with them."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Mapping
from typing import Any, NoReturn

import click

from acud import config as settings
from acud.base import private_files
from acud.base.errors import DaemonDown, Unavailable
from acud.base.paths import Paths
from acud.protocol.requests.daemon import DaemonDrainReply, StatusReply
from acud.types import DisplayState
from acud_cli import daemon_process
from acud_cli.exit_codes import Exit
from acud_cli.formatting import count, duration
from acud_cli.options import DURATION
from acud_cli.session import Session, pass_session, say, say_all, session_of, warn
from acud_cli.status import status
from acud_client.daemon_socket import SocketState


def check_start(paths: Paths, env: Mapping[str, str]) -> None:
    """See whether a daemon would start with these settings and directories, before another one is ended for it.

    Raises: ConfigError, Refused.
    """
    private_files.check_instance(paths)
    settings.usable(paths.config, env)


@click.group(short_help="Check the settings.")
def config() -> None:
    """Check the settings: acud.toml in ACU_HOME, and the environment on top of it (docs/settings.md)."""


@config.command("check", short_help="Say whether a daemon would take the settings.")
@pass_session
def check_config(session: Session) -> None:
    """Read acud.toml and the environment as the daemon does, and change nothing. It needs no running daemon, and does
    not touch one.

    A fault names the file and line, or the variable; the setting; the reason; and the next step.

    Exit code: 0 the settings are good (a variable that acud does not read is a warning), 2 they are not.

    \b
    acud config check
    """
    session.only_here("acud config check")
    paths = session.paths
    backends = settings.usable(paths.config, os.environ).backends
    read = settings.environment_names(backends).keys() | settings.former_variables().keys()
    given = sorted(name for name in read if os.environ.get(name, "") != "")
    unread = settings.unknown_variables(os.environ, backends)
    for name in unread:
        warn(f"{name} is set, and acud does not read it: docs/differences.md")
    for former, name in settings.former_names(paths.config, os.environ):
        warn(f"{former} is the former name of {name}: rename it, the next release does not read it")
    told: dict[str, Any] = {
        "file": str(paths.config),
        "exists": paths.config.exists(),
        "variables": given,
        "unread": unread,
    }
    session.show(told, lambda: say(_describe_settings(told)))


def _describe_settings(view: dict[str, Any]) -> str:
    file = view["file"] if view["exists"] else f"no {view['file']}: defaults"
    variables = f"; set by the environment: {', '.join(view['variables'])}" if view["variables"] else ""
    return f"the settings are good: {file}{variables}"


@click.group(short_help="Start, stop, drain and reload the daemon.")
def daemon() -> None:
    """Start, stop, drain and reload the daemon. There is one per ACU_HOME."""


_NAMED = 8
_ANNOUNCE_S = 5.0
_yes = click.option("--yes", is_flag=True, help="Do not ask whether managed displays may end.")
_debug = click.option("--debug", is_flag=True, help="Log everything (the same as ACU_DEBUG=1).")


@daemon.command("start", short_help="Start the daemon in the background.")
@_debug
@pass_session
def start_daemon(session: Session, *, debug: bool) -> None:
    """Start the daemon in the background and return when it serves and its processes are ready, or with what is not
    ready after 20 s; or when it ended, with the reason. Harmless when it runs already.

    \b
    acud daemon start
    """
    session.only_here("acud daemon start")
    told = _find_running(session)
    verb = "started" if told is None else "already running"
    told = _await_children(session, told or daemon_process.start(session.paths, debug=debug))
    session.show(told, lambda: say(f"{verb}: acud {told.version}, pid {told.pid}, {told.home}"))


def _await_children(session: Session, first_status: StatusReply) -> StatusReply:
    status = daemon_process.await_children(session.daemon_client(), first_status)
    if late := daemon_process.list_unready(status):
        warn(f"note: not ready yet: {', '.join(late)}; acud status and acud doctor tell more")
    return status


def _find_running(session: Session) -> StatusReply | None:
    """Return the status of the running daemon, or None if there is none or it is just ending."""
    client = session.client(timeout_s=_ANNOUNCE_S)
    if client.daemon_socket.look().state is not SocketState.OPEN:
        return None
    try:
        return client.status()
    except DaemonDown as fault:
        if fault.facts.get("reason") == "busy":
            raise
        return None


@daemon.command("run", short_help="Run the daemon in the foreground.")
@_debug
@click.pass_context
def run_daemon(ctx: click.Context, *, debug: bool) -> NoReturn:
    """Run the daemon in the foreground, in place of this process; for systemd and for looking at it.

    \b
    acud daemon run --debug
    """
    session = session_of(ctx)
    session.only_here("acud daemon run")
    os.environ["ACU_HOME"] = str(session.paths.home)
    line = daemon_process.daemon_command(debug=debug)
    os.execv(line[0], line)  # noqa: S606 - our own interpreter and module, no shell


@daemon.command("stop", short_help="End the daemon.")
@click.option("--keep-displays", is_flag=True, help="Leave managed displays running for the next start.")
@click.option("--force", is_flag=True, help="Kill it when it does not answer.")
@_yes
@pass_session
def stop_daemon(session: Session, *, keep_displays: bool, force: bool, yes: bool) -> None:
    """End the daemon and return when its process is gone. Managed displays end too, and waits on them fail; other waits
    stay armed for the next start, and terminal sessions go on. Names what ends, and asks first on a terminal. Harmless
    when it does not run.

    \b
    acud daemon stop
    acud daemon stop --keep-displays
    """
    if not force:
        with contextlib.suppress(DaemonDown):  # the stop itself reports it, with the way out
            _announce_end(session, keep_displays=keep_displays, yes=yes)
    pid = _stop_daemon(session, keep_displays=keep_displays, force=force)
    words = f"stopped (pid {pid})" if pid else "not running"
    session.show({"stopped": bool(pid), "pid": pid}, lambda: say(words))


def _announce_end(session: Session, *, keep_displays: bool, yes: bool) -> None:
    """Name on standard error what the daemon's end ends and what goes on; on a terminal ask whether it may.

    Raises: Abort if the answer is no.
    """
    client = session.client()
    if client.daemon_socket.look().state is not SocketState.OPEN:
        return
    managed = [
        one.name for one in client.display_list().displays if one.managed and one.state is not DisplayState.ENDED
    ]
    if managed and not keep_displays:
        waits = client.wait_list(displays=managed, limit=1).total
        named = ", ".join(managed[:_NAMED]) + (" …" if len(managed) > _NAMED else "")
        warn(
            f"this ends {count(len(managed), 'managed display')} ({named}) with every program on "
            f"{'it' if len(managed) == 1 else 'them'}, and {count(waits, 'wait')}; --keep-displays leaves them running"
        )
        if not yes and sys.stdin.isatty() and sys.stderr.isatty():
            click.confirm("end them?", abort=True, err=True)
    try:
        terminals = [one.name for one in client.terminal_list().terminals]
    except Unavailable:  # no tmux: nothing can be open there
        terminals = []
    if terminals:
        warn(
            f"{count(len(terminals), 'terminal session')} ({', '.join(terminals)}) go on without the daemon; end them "
            f"with: tmux -S {session.paths.terminals_socket} kill-server"
        )


def _stop_daemon(session: Session, *, keep_displays: bool, force: bool) -> int:
    return daemon_process.stop(session.client(), keep_displays=keep_displays, force=force)


@daemon.command("restart", short_help="End the daemon and start it again.")
@_debug
@click.option("--end-displays", is_flag=True, help="End managed displays as well; they are kept otherwise.")
@click.option("--force", is_flag=True, help="Kill it when it does not answer.")
@click.option(
    "--evaluators", is_flag=True, help="Only the evaluators, one at a time: the daemon goes on, no job is lost."
)
@_yes
@pass_session
def restart_daemon(
    session: Session, *, debug: bool, end_displays: bool, force: bool, evaluators: bool, yes: bool
) -> None:
    """End the daemon and start it again. Waits go on, and so do managed displays. With settings or directories that
    it would not start with (acud config check) the one that runs is left alone, exit code 2 or 8.

    \b
    acud daemon restart
    acud daemon restart --evaluators
    """
    session.only_here("acud daemon restart")
    if evaluators:
        _renew_evaluators(session)
        return
    check_start(session.paths, os.environ)
    if end_displays and not force:
        with contextlib.suppress(DaemonDown):
            _announce_end(session, keep_displays=False, yes=yes)
    with daemon_process.hold_listeners(session.paths) as sockets:
        old = _stop_daemon(session, keep_displays=not end_displays, force=force)
        told = _await_children(session, daemon_process.start(session.paths, debug=debug, sockets=sockets))
    before = f"was pid {old}" if old else "was not running"
    session.show(told, lambda: say(f"started: acud {told.version}, pid {told.pid} ({before})"))


def _renew_evaluators(session: Session) -> None:
    reply = session.client().evaluators_restart()
    lines = [f"evaluator {one.name}: pid {one.old_pid} -> {one.pid}" for one in reply.restarted]
    session.show(reply, lambda: say_all(lines))


@daemon.command("drain", short_help="End the daemon once what runs has finished.")
@click.option("--timeout", type=DURATION, default=3600.0, help="End at the latest after so long (default: 1h).")
@click.option("--keep-displays", is_flag=True, help="Leave managed displays running for the next start.")
@click.option("--no-wait", is_flag=True, help="Return at once; the daemon drains by itself.")
@click.option("--cancel", is_flag=True, help="Take it back: new work is taken again.")
@_yes
@pass_session
def drain_daemon(
    session: Session, *, timeout: float, keep_displays: bool, no_wait: bool, cancel: bool, yes: bool
) -> int:
    """Have the daemon refuse new waits, tasks, runs, displays and recordings, and end as soon as live waits, active
    tasks and runs have finished, at the latest after --timeout. What is live then ends, or stays, as with a stop.
    Returns when the process is gone; Ctrl-C leaves, and the drain goes on. Exit code 3: it was taken back meanwhile.

    \b
    acud daemon drain --timeout 10m
    acud daemon drain --cancel
    """
    client = session.client()
    if not cancel:
        _announce_end(session, keep_displays=keep_displays, yes=yes)
    told = client.daemon_drain(timeout, keep_displays=keep_displays, cancel=cancel)
    if not told.draining or no_wait:
        session.show(told, lambda: say(_describe_drain(told)))
        return Exit.OK
    if not session.json:
        say(_describe_drain(told))
    ended = daemon_process.wait_until_ended(client, told.pid)
    words = f"stopped (pid {told.pid})" if ended else "the drain was taken back"
    session.show({"stopped": ended, "pid": told.pid}, lambda: say(words))
    return Exit.OK if ended else Exit.TIMEOUT


def _describe_drain(reply: DaemonDrainReply) -> str:
    if not reply.draining:
        return "not draining: new work is taken"
    left = f"{count(reply.waits, 'wait')}, {count(reply.tasks, 'task')}, {count(reply.runs, 'run')} to finish"
    return f"draining: {left}; ends within {duration(max(0.0, reply.until_utc_s - time.time()))}"


@daemon.command("reload", short_help="Read the settings again.")
@pass_session
def reload_daemon(session: Session) -> None:
    """Have the daemon read acud.toml again (as SIGHUP does) and take the limits that can change while it runs. Lists
    what was taken and what needs a restart; a malformed file is refused as a whole.

    \b
    acud daemon reload
    """
    reply = session.client().daemon_reload()
    lines = [f"taken: {name}" for name in reply.taken]
    lines += [f"needs acud daemon restart: {name}" for name in reply.restart]
    session.show(reply, lambda: say_all(lines or ["nothing differs"]))


daemon.add_command(status)
