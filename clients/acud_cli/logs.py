"""`acud logs`: the daemon's log, for people; with --json as it was written."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from acud_cli.exits import Exit
from acud_cli.logfile import Entry, follow, parse, tail_over_rotation
from acud_cli.plain import plain, plain_json
from acud_cli.session import Session, json_option, pass_session, warn

LEVELS = ("debug", "info", "warning", "error", "critical")
_COLOURS = {"debug": "2", "warning": "33", "error": "31", "critical": "1;31"}


@click.command(short_help="Show the daemon's log.")
@click.option("--follow", "-f", "follows", is_flag=True, help="Go on as lines are written.")
@click.option("--level", type=click.Choice(LEVELS), default="debug", help="This level and above.")
@click.option("--lines", "-n", type=click.IntRange(0, 100_000), default=50, show_default=True, help="The last so many.")
@json_option
@pass_session
def logs(session: Session, *, follows: bool, level: str, lines: int) -> int:
    """Show the daemon's log ($ACU_HOME/logs/debug.log). It needs no running daemon."""
    path = session.paths.debug_log
    if not path.exists():
        warn(f"no log yet: {path}")
    try:
        for line in _lines(session, follows=follows, level=level, count=lines):
            _print(line, as_written=session.json)
    except KeyboardInterrupt:
        return Exit.OK
    return Exit.OK


def _lines(session: Session, *, follows: bool, level: str, count: int) -> Iterator[str]:
    path = session.paths.debug_log
    # A level is asked of more lines than are shown, for a quiet level among noisy ones.
    recent = tail_over_rotation(path, count if level == "debug" else 100_000)
    yield from [line for line in recent if _wanted(line, level)][-count:] if count else []
    if follows:
        yield from (line for line in follow(path) if _wanted(line, level))


def _wanted(line: str, level: str) -> bool:
    entry = parse(line)
    if entry is None or entry.level not in LEVELS:
        return True  # a traceback or a library's own words: never hidden
    return LEVELS.index(entry.level) >= LEVELS.index(level)


def _print(line: str, *, as_written: bool) -> None:
    entry = None if as_written else parse(line)
    text = log_line(entry) if entry else plain_json(line) if as_written else plain(line)
    print(_coloured(text, entry.level if entry else ""), flush=True)


def log_line(entry: Entry) -> str:
    """Return an entry as one line: time, level, process, event, fields."""
    fields = "  ".join(f"{name}={value}" for name, value in entry.fields.items() if name not in ("exception", "room"))
    head = f"{entry.at[11:23]}  {entry.level:<7}  {entry.process:<14}  {entry.event}  {fields}".rstrip()
    trace = str(entry.fields.get("exception", ""))
    return "\n    ".join([plain(head), *(plain(part) for part in trace.splitlines())])


def _coloured(text: str, level: str) -> str:
    colour = _COLOURS.get(level, "")
    return f"\x1b[{colour}m{text}\x1b[0m" if colour and sys.stdout.isatty() else text
