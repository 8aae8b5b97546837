"""Terminals and their processes, read from /proc (proc(5))."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from acud.waits.terminals import Tty

PROC = Path("/proc")
_PTS_MAJOR = 136
_MAX_CHAIN = 64
_NUMBERS = re.compile(r"\s*\S\s+(-?\d{1,10})\s+-?\d{1,10}\s+(-?\d{1,10})\s+(-?\d{1,10})\s", re.ASCII)
"""State, parent, process group, session, controlling terminal."""
_MAX_ENVIRON = 1 << 20


class Stat(Struct, frozen=True):
    """A process: its name, parent, session leader and controlling terminal ("": none, or no pseudo-terminal)."""

    command: str
    parent: int
    session: int
    tty: str


def read_stat(pid: int, proc: Path = PROC) -> Stat | None:
    """Return the stat of `pid`; None when it is gone or may not be seen."""
    try:
        text = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name in parentheses may hold spaces and parentheses; what follows the last one is field 3.
    head, _, rest = text.rpartition(")")
    numbers = _NUMBERS.match(rest)
    if numbers is None:
        return None  # not the kernel's format
    parent, session, device = map(int, numbers.groups())
    return Stat(head.partition("(")[2], parent, session, _tty_name(device))


def _tty_name(number: int) -> str:
    """Return the device's name from the kernel's number: minor in bits 31-20 and 7-0, major in bits 15-8."""
    major, minor = number >> 8 & 0xFFF, number & 0xFF | number >> 12 & 0xFFF00
    return f"pts/{minor}" if major == _PTS_MAJOR else ""


def has_foreground_job(leader: int) -> bool:
    """Return whether another process group than the session leader's reads the terminal: a shell runs a command."""
    try:
        text = (PROC / str(leader) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    fields = text.rpartition(")")[2].split()  # state, parent, process group, session, terminal, its foreground group
    return len(fields) > 5 and fields[2] != fields[5]


def has_others(leader: int) -> bool:
    """Return whether there is another process in the session of `leader`, also a background job of a shell."""
    pids = (int(path.name) for path in PROC.iterdir() if path.name.isdecimal())
    found = (read_stat(pid) for pid in pids if pid != leader)
    return any(one is not None and one.session == leader for one in found)


def list_ancestors(pid: int, proc: Path = PROC) -> tuple[int, ...]:
    """Return `pid` and its parents, nearest first, without the first process of all."""
    found: list[int] = []
    while pid > 1 and len(found) < _MAX_CHAIN:
        found.append(pid)
        known = read_stat(pid, proc)
        pid = known.parent if known is not None else 0
    return tuple(found)


def list_ttys(proc: Path = PROC) -> tuple[Tty, ...]:
    """Return every pseudo-terminal with a session leader; reads all of /proc, about 50 µs a process."""
    pids = sorted(int(path.name) for path in proc.iterdir() if path.name.isdecimal())
    found = (find_tty(pid, proc) for pid in pids)
    return tuple(one for one in found if one is not None)


def find_tty(leader: int, proc: Path = PROC) -> Tty | None:
    """Return the terminal that `leader` leads the session of; None when it is no such leader."""
    known = read_stat(leader, proc)
    if known is None or known.session != leader or not known.tty:
        return None
    return Tty(known.tty, leader, known.command, list_ancestors(known.parent, proc), _window_hint(leader, proc))


def _window_hint(pid: int, proc: Path) -> int:
    try:
        with (proc / str(pid) / "environ").open("rb") as file:
            block = file.read(_MAX_ENVIRON)
    except OSError:
        return 0
    named = next((item[9:] for item in block.split(b"\0") if item.startswith(b"WINDOWID=")), b"")
    return int(named) if named.isdigit() and len(named) < 12 else 0
