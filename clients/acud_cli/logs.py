"""`acud logs`: the daemon's log file: its last lines, and what is added, also past a rotation."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from acud.base.typed_values import decode_json
from acud_cli.exit_codes import Exit
from acud_cli.formatting import plain, plain_json
from acud_cli.options import limit_option
from acud_cli.session import Session, pass_session, warn

_BLOCK = 64 * 1024
_LOOK_S = 0.2


def tail(path: Path, count: int, *, after: int = 0) -> list[str]:
    """Return the last `count` lines of `path` (past its byte `after`) that are not blank, oldest first; none when there
    is no file."""
    try:
        data = _last_bytes(path, count, after)
    except FileNotFoundError:
        return []
    lines = [line for line in data.decode("utf-8", "replace").split("\n") if line.strip()]
    return lines[-count:] if count else []


def _last_bytes(path: Path, lines: int, first: int) -> bytes:
    with path.open("rb") as file:
        position = file.seek(0, os.SEEK_END)
        data = b""
        while position > first and data.count(b"\n") <= lines:
            step = min(_BLOCK, position - first)
            position -= step
            file.seek(position)
            data = file.read(step) + data
    return data


def tail_over_rotation(path: Path, count: int) -> list[str]:
    """Return the last `count` lines of `path`; if it has fewer, also of the file before it was emptied."""
    lines = tail(path, count)
    return tail(find_rotated(path), count - len(lines)) + lines if len(lines) < count else lines


def find_rotated(path: Path) -> Path:
    """Return where the daemon keeps the former content of `path`."""
    return path.with_name(f"{path.name}.1")


def follow(path: Path) -> Iterator[str]:
    """Yield lines as they are added to `path`, from its present end on, for ever; also those that the daemon moved away
    before they were read. A renamed file is read to its end, and the new one from its beginning.
    """
    reader, rest = LogReader(path), b""
    while True:
        data = reader.read_added()
        *whole, rest = (rest + data).split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in whole if line.strip())
        if not data:
            time.sleep(_LOOK_S)


class LogReader:
    """A place in a file that may be emptied, renamed or gone between two looks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position, self._serial = _find_end(path)

    def read_added(self) -> bytes:
        """Return what was added since the last look, b"" for nothing."""
        try:
            with self._path.open("rb") as file:
                found = os.fstat(file.fileno())
                moved = b"" if self._is_same(found) else self._begin_anew(found)
                file.seek(self._position)
                data = file.read(_BLOCK)
        except FileNotFoundError:
            return b""
        self._position += len(data)
        return moved + data

    def _is_same(self, status: os.stat_result) -> bool:
        return status.st_ino == self._serial and status.st_size >= self._position

    def _begin_anew(self, status: os.stat_result) -> bytes:
        """Begin anew with the file as it is now; return what was added to it before it was emptied."""
        was, emptied = self._position, status.st_ino == self._serial
        self._position, self._serial = 0, status.st_ino
        return _read_from(find_rotated(self._path), was) if emptied else b""


def _read_from(path: Path, position: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(position)
            return file.read()
    except FileNotFoundError:
        return b""


def _find_end(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_ino


class LogEntry(msgspec.Struct):
    """One log line: its level, its time, its event, and the rest of its fields."""

    level: str
    at: str
    event: str
    process: str
    fields: dict[str, Any]


def parse(line: str) -> LogEntry | None:
    """Return the entry in `line`, or None for one that is not acud's JSON (a library's words, a traceback)."""
    try:
        plain = decode_json(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if not isinstance(plain, dict) or "event" not in plain:
        return None
    taken = {name: str(plain.pop(name, "")) for name in ("level", "timestamp", "event", "process")}
    return LogEntry(taken["level"], taken["timestamp"], taken["event"], taken["process"], plain)


LEVELS = ("debug", "info", "warning", "error", "critical")
_COLOURS = {"debug": "2", "warning": "33", "error": "31", "critical": "1;31"}


@click.command(short_help="Show the daemon's log.")
@click.option("--follow", "-f", "follows", is_flag=True, help="Go on as lines are written.")
@click.option("--level", type=click.Choice(LEVELS), default="debug", help="This level and above.")
@limit_option(100_000, 50, "The last so many lines.", least=0, former="--lines")
@pass_session
def logs(session: Session, *, follows: bool, level: str, limit: int) -> int:
    """Show the daemon's log ($ACU_HOME/logs/debug.log). It needs no running daemon.

    \b
    acud logs --limit 200
    acud logs --follow --level warning
    """
    path = session.paths.debug_log
    if not path.exists():
        warn(f"no log yet: {path}")
    try:
        for line in _split_lines(session, follows=follows, level=level, count=limit):
            _print_line(line, as_written=session.json)
    except KeyboardInterrupt:
        return Exit.OK
    return Exit.OK


def _split_lines(session: Session, *, follows: bool, level: str, count: int) -> Iterator[str]:
    path = session.paths.debug_log
    # More lines are read than are shown, to find a quiet level among noisy ones.
    recent = tail_over_rotation(path, count if level == "debug" else 100_000)
    yield from [line for line in recent if _is_wanted(line, level)][-count:] if count else []
    if follows:
        yield from (line for line in follow(path) if _is_wanted(line, level))


def _is_wanted(line: str, level: str) -> bool:
    entry = parse(line)
    if entry is None or entry.level not in LEVELS:
        return True  # a traceback or a library's own words: never hidden
    return LEVELS.index(entry.level) >= LEVELS.index(level)


def _print_line(line: str, *, as_written: bool) -> None:
    entry = None if as_written else parse(line)
    text = format_entry(entry) if entry else plain_json(line) if as_written else plain(line)
    print(_colour_text(text, entry.level if entry else ""), flush=True)


def format_entry(entry: LogEntry) -> str:
    """Return an entry as one line: time, level, process, event, fields."""
    fields = "  ".join(f"{name}={value}" for name, value in entry.fields.items() if name not in ("exception", "room"))
    head = f"{entry.at[11:23]}  {entry.level:<7}  {entry.process:<14}  {entry.event}  {fields}".rstrip()
    trace = str(entry.fields.get("exception", ""))
    return "\n    ".join([plain(head), *(plain(part) for part in trace.splitlines())])


def _colour_text(text: str, level: str) -> str:
    colour = _COLOURS.get(level, "")
    return f"\x1b[{colour}m{text}\x1b[0m" if colour and sys.stdout.isatty() else text
