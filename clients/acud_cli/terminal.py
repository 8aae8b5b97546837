"""`acud terminal`: sessions in a terminal of acud's own: opened, typed into, read, and waited for."""

from __future__ import annotations

import sys
from typing import Any

import click

from acud.protocol.requests.terminals import Moment, TerminalInfo, TerminalReply
from acud_cli.exit_codes import Exit, exit_of_state
from acud_cli.formatting import FittedTable, count, local_time, plain
from acud_cli.options import DURATION, WholeNumber, display_option, pick, task_option, together
from acud_cli.session import Session, complete_names, pass_session, print_table, say, say_all, warn
from acud_cli.wait_options import action_wait_options, make_action_wait
from acud_cli.wait_text import ACTION_BLOCK_S, follow_action_wait, print_action_wait, print_left_wait

_REST_S = 10.0
_complete_session = complete_names(
    lambda client, _: ((one.name, one.command) for one in client.terminal_list().terminals)
)


@click.group(short_help="Open terminal sessions, type into them and read them.")
def terminal() -> None:
    """Open terminal sessions, type into them and read them; no display is needed.

    A session outlives the daemon, and its program, until it is closed. `acud wait -t pty:NAME` waits on its text,
    `acud wait --process PID` for the end of its program, with its exit status.

    \b
    acud terminal open --name build
    acud terminal type build 'echo made it' --done
    acud terminal type build 'make -C /tmp nothing' --until-text Stop
    acud terminal type build --key ctrl+c
    acud terminal read build --limit 20
    acud terminal list
    acud terminal close build
    """


_moment_options = together(
    click.option("--done", is_flag=True, help="Wait until the program, or the command of a shell, has ended."),
    click.option("--now", is_flag=True, help="Do not wait until its text is at rest."),
    click.option(
        "--timeout", type=DURATION, metavar="DURATION", help="Wait at most this long (up to 5m; default 10s, or 5m)."
    ),
)


def _choose_moment(options: dict[str, Any], usual: Moment) -> tuple[Moment, float]:
    """Return the moment at which the daemon answers, and the time limit in seconds. Raises: click.UsageError."""
    if options["done"] and options["now"]:
        raise click.UsageError("--done and --now exclude each other")
    moment: Moment = "done" if options["done"] else "now" if options["now"] else usual
    timeout_s = options["timeout"]
    return moment, timeout_s if timeout_s is not None else ACTION_BLOCK_S if moment == "done" else _REST_S


@terminal.command("open", short_help="Open a session.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[PROGRAM [ARG]...]")
@click.option("--name", default="", metavar="NAME", help="Its name (default: t1, t2 …).")
@click.option("--cwd", default="", metavar="DIR", help="Its working directory (default: the daemon's home).")
@click.option("--size", default="120x40", show_default=True, metavar="COLUMNSxROWS", help="How large it is.")
@display_option
@task_option
@_moment_options
@action_wait_options
@pass_session
def open_session(session: Session, *, command: tuple[str, ...], name: str, cwd: str, size: str, **options: Any) -> int:
    """Open a session with PROGRAM (default: a shell); print its name and what it has written.

    With a display or a task, its programs are programs of that display, and end with one of acud's own.

    \b
    acud terminal open --name build
    acud terminal open --display :100 -- top
    """
    columns, rows = _parse_size(size)
    moment, block_s = _choose_moment(options, "settled")
    wait = make_action_wait(options)
    client = session.client()
    with print_left_wait(wait):
        reply = client.terminal_open(
            command,
            name=name,
            cwd=cwd,
            columns=columns,
            rows=rows,
            moment=moment,
            wait=wait,
            block_s=block_s if wait is None else ACTION_BLOCK_S,
            **pick(options, "display", "task_id"),
        )
        return _print_reply(session, reply, moment)


def _parse_size(text: str) -> tuple[int, int]:
    columns, _, rows = text.partition("x")
    if not (columns.isdecimal() and rows.isdecimal()):
        raise click.UsageError(f"{text!r} is no size, such as 120x40")
    return int(columns), int(rows)


@terminal.command("type", short_help="Type into a session.")
@click.argument("name", shell_complete=_complete_session)
@click.argument("text", default="")
@click.option("--key", "keys", multiple=True, metavar="CHORD", help="Press it after the text, in place of Enter.")
@click.option("--no-enter", is_flag=True, help="Press no Enter after the text.")
@task_option
@_moment_options
@action_wait_options
@pass_session
def type_into(session: Session, *, name: str, text: str, keys: tuple[str, ...], no_enter: bool, **options: Any) -> int:
    """Type TEXT (- reads it from standard input) and Enter into the session NAME; print what it wrote since.

    What is waited for counts in what was written since, too.

    \b
    acud terminal type build 'echo made it' --done
    acud terminal type build --key ctrl+c
    """
    typed = sys.stdin.read().removesuffix("\n") if text == "-" else text
    pressed = keys or (("Enter",) if typed and not no_enter else ())
    moment, block_s = _choose_moment(options, "settled")
    wait = make_action_wait(options)
    client = session.client()
    with print_left_wait(wait):
        reply = client.terminal_type(
            name,
            typed,
            keys=pressed,
            task_id=options["task_id"],
            moment=moment,
            wait=wait,
            block_s=block_s if wait is None else ACTION_BLOCK_S,
        )
        return _print_reply(session, reply, moment)


@terminal.command("read", short_help="Print the text of a session.")
@click.argument("name", shell_complete=_complete_session)
@click.option(
    "limit",
    "--limit",
    "-n",
    "--lines",
    type=WholeNumber(0, 2000),
    default=0,
    help="The last so many lines, not the screen. --lines: its former name, until 0.3.",
)
@click.option("--since", default="", metavar="MARK", help="What it wrote since; from the JSON of another answer.")
@_moment_options
@pass_session
def read_session(session: Session, *, name: str, limit: int, since: str, **options: Any) -> int:
    """Print what the session NAME shows.

    \b
    acud terminal read build
    acud terminal read build --limit 20
    """
    moment, block_s = _choose_moment(options, "settled" if options["timeout"] is not None else "now")
    with session.client() as client:
        reply = client.terminal_read(name, lines=limit, since=since, moment=moment, block_s=block_s)
        return _print_reply(session, reply, moment)


@terminal.command("list", short_help="List the sessions.")
@pass_session
def list_sessions(session: Session) -> None:
    """List the open sessions, including those whose program has ended.

    \b
    acud terminal list
    """
    with session.client() as client:
        reply = client.terminal_list()

    def human() -> None:
        table = FittedTable("name, state, command+, opened-, pid-")
        for one in reply.terminals:
            table.add_row(
                one.name, _describe_state(one), plain(one.command), local_time(one.opened_utc_s), str(one.pid)
            )
        if reply.terminals:
            print_table(table)
        else:
            say("no sessions; open one with: acud terminal open")

    session.show(reply, human)


@terminal.command("close", short_help="Close sessions.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=_complete_session)
@pass_session
def close_sessions(session: Session, *, names: tuple[str, ...]) -> None:
    """Close the sessions NAME: their programs are hung up, and nothing is left of them.

    \b
    acud terminal close build
    """
    with session.client() as client:
        for name in names:
            closed = client.terminal_close(name)
            session.show(closed, lambda closed=closed: say(f"{closed.terminal.name}: closed"))  # type: ignore[misc]


def _describe_state(info: TerminalInfo) -> str:
    return info.end or {None: "running", True: "busy", False: "at its prompt"}[info.busy]


def _print_reply(session: Session, reply: TerminalReply, moment: Moment) -> int:
    reply = follow_action_wait(session, session.client(), reply)

    def human() -> None:
        warn(f"{reply.terminal.name}: {_describe_state(reply.terminal)} (pid {reply.terminal.pid})")
        if reply.left_out:
            warn(f"({count(reply.left_out, 'line')} above left out)")
        say_all(reply.text.split("\n") if reply.text else ())
        if reply.note:
            warn(f"note: {reply.note}")
        if reply.wait is not None:
            print_action_wait(reply.wait)

    session.show(reply, human)
    if reply.wait is not None:
        return exit_of_state(reply.wait.wait.state)
    return Exit.TIMEOUT if moment == "done" and reply.settled is False else Exit.OK
