"""What /proc says of processes (proc(5)): are they alive, which program are they, which display are they of."""

from __future__ import annotations

import os
from pathlib import Path

MARKER = "ACUD_DISPLAY_FOLDER"
"""Set in the environment of everything that a managed display runs, to the display's folder. Children inherit it also
when they leave their session or their parent dies, so that an end or a sweep finds them all."""

_PROC = Path("/proc")


def start_ticks(pid: int) -> int | None:
    """Return when `pid` started (field 22 of its stat, ticks since boot); None when it is gone or a zombie."""
    try:
        text = (_PROC / str(pid) / "stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name in parentheses may hold spaces and parentheses; what follows the last one is field 3.
    fields = text[text.rindex(b")") + 2 :].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def comm(pid: int) -> str:
    """Return the program name of `pid`, at most 15 characters; "" when it is gone."""
    try:
        return (_PROC / str(pid) / "comm").read_text(encoding="utf-8", errors="replace").rstrip("\n")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def own_memory(pid: int) -> int:
    """Return the bytes that `pid` has for itself, in memory (RssAnon) and swapped out; 0 when it is gone."""
    try:
        lines = (_PROC / str(pid) / "status").read_bytes().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith((b"RssAnon:", b"VmSwap:")))


def marked_folder(pid: int) -> str:
    """Return the folder that the marker of `pid` names; "" when it has none, is gone, or is not ours to look at."""
    try:
        block = (_PROC / str(pid) / "environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""
    begin = f"{MARKER}=".encode()
    found = next((item for item in block.split(b"\0") if item.startswith(begin)), begin)
    return os.fsdecode(found[len(begin) :])


def marked() -> dict[int, str]:
    """Return every marked process but ourselves and our session, with its folder. Takes about 20 µs a process."""
    pids = (int(path.name) for path in _PROC.iterdir() if path.name.isdigit())
    found = {pid: marked_folder(pid) for pid in pids}
    return {pid: folder for pid, folder in found.items() if folder and not _is_ours(pid)}


def _is_ours(pid: int) -> bool:
    # A daemon started by hand from a terminal of a managed display carries the marker too, and must not end itself.
    try:
        return pid == os.getpid() or os.getsid(pid) == os.getsid(0)
    except ProcessLookupError:
        return False
