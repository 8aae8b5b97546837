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


def follow(path: Path) -> Iterator[str]:
    """Yield lines as they are added to `path`, from its present end on, for ever; a renamed file is read to its end,
    and the new one from its beginning."""
    position, serial = _end_of(path)
    rest = b""
    while True:
        data, position, serial = _added(path, position, serial)
        *whole, rest = (rest + data).split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in whole if line.strip())
        if not data:
            time.sleep(_LOOK_S)


def _end_of(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_ino


def _added(path: Path, position: int, serial: int) -> tuple[bytes, int, int]:
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if found.st_ino != serial or found.st_size < position:
                position, serial = 0, found.st_ino
            file.seek(position)
            data = file.read(_BLOCK)
    except FileNotFoundError:
        return b"", position, serial
    return data, position + len(data), serial


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
    except msgspec.DecodeError:
        return None
    if not isinstance(plain, dict) or "event" not in plain:
        return None
    taken = {name: str(plain.pop(name, "")) for name in ("level", "timestamp", "event", "process")}
    return Entry(taken["level"], taken["timestamp"], taken["event"], taken["process"], plain)
