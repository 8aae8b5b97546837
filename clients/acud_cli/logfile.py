"""The daemon's log file, read from outside: the last lines, and what is added, also past a rotation."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

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
    """Return the last `count` lines of `path`; where it has fewer, also of what it was before it was emptied."""
    lines = tail(path, count)
    return tail(rotated(path), count - len(lines)) + lines if len(lines) < count else lines


def rotated(path: Path) -> Path:
    """Return where the daemon keeps what was in `path` before it emptied it."""
    return path.with_name(f"{path.name}.1")


def follow(path: Path) -> Iterator[str]:
    """Yield lines as they are added to `path`, from its present end on, for ever; also those that the daemon moved away
    before they were read. A renamed file is read to its end, and the new one from its beginning."""
    reader, rest = Reader(path), b""
    while True:
        data = reader.added()
        *whole, rest = (rest + data).split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in whole if line.strip())
        if not data:
            time.sleep(_LOOK_S)


class Reader:
    """A place in a file that may be emptied, renamed or gone between two looks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position, self._serial = _end_of(path)

    def added(self) -> bytes:
        """Return what was added since the last look, b"" for nothing."""
        try:
            with self._path.open("rb") as file:
                found = os.fstat(file.fileno())
                moved = b"" if self._is_same(found) else self._begin(found)
                file.seek(self._position)
                data = file.read(_BLOCK)
        except FileNotFoundError:
            return b""
        self._position += len(data)
        return moved + data

    def _is_same(self, found: os.stat_result) -> bool:
        return found.st_ino == self._serial and found.st_size >= self._position

    def _begin(self, found: os.stat_result) -> bytes:
        """Begin anew with the file as it is now; return what was added to it before it was emptied."""
        was, emptied = self._position, found.st_ino == self._serial
        self._position, self._serial = 0, found.st_ino
        return _from(rotated(self._path), was) if emptied else b""


def _from(path: Path, position: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(position)
            return file.read()
    except FileNotFoundError:
        return b""


def _end_of(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_ino


class Entry(msgspec.Struct):
    """One log line: its level, its time, its event, and the rest of its fields."""

    level: str
    at: str
    event: str
    process: str
    fields: dict[str, Any]


def parse(line: str) -> Entry | None:
    """Return the entry in `line`, or None for one that is not acud's JSON (a library's words, a traceback)."""
    try:
        plain = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if not isinstance(plain, dict) or "event" not in plain:
        return None
    taken = {name: str(plain.pop(name, "")) for name in ("level", "timestamp", "event", "process")}
    return Entry(taken["level"], taken["timestamp"], taken["event"], taken["process"], plain)
