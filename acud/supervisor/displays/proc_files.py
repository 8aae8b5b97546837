"""Processes as /proc shows them (proc(5)): whether they live, their program, and the display they belong to."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

MARKER = "ACUD_DISPLAY_FOLDER"
"""The environment variable that holds the display's folder, set for all that a managed display runs. Children inherit
it also when they leave their session or their parent dies, so an end or a sweep finds them. For programs that overwrite
their environment see `marked_folder`."""
LAUNCHED = "launched-"
"""How the names of the logs of launched programs begin, in the folder of their display."""

_PROC = Path("/proc")
_PF_KTHREAD = 0x00200000  # in the flags of stat (field 9): a thread of the kernel (include/linux/sched.h)


def start_ticks(pid: int) -> int | None:
    """Return when `pid` started (field 22 of its stat, ticks since boot); None when it is gone or a zombie."""
    try:
        fields = _stat_fields(pid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def waits_for_machine(pid: int) -> bool:
    """Return whether `pid` would go on if the machine gave it processor time, or the page that it waits for."""
    try:
        return _stat_fields(pid)[0] in (b"R", b"D")
    except (FileNotFoundError, ProcessLookupError):
        return False


def measure_queued_s(pid: int) -> float:
    """Return how many seconds the present threads of `pid` have waited in the run queue, summed; 0 where the kernel
    does not count it (proc_pid_schedstat: time on the processor, time in the run queue, in ns).
    """
    queued_ns = 0
    for thread in (_PROC / str(pid) / "task").glob("*/schedstat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            queued_ns += int(thread.read_bytes().split()[1])
    return queued_ns / 1e9


def _stat_fields(pid: int) -> list[bytes]:
    """Return the fields of `pid`'s stat from field 3, its state, on."""
    text = (_PROC / str(pid) / "stat").read_bytes()
    # The name in parentheses may hold spaces and parentheses; what follows the last one is field 3.
    return text[text.rindex(b")") + 2 :].split()


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


class MarkedProcesses(NamedTuple):
    """One look at all processes. `folders`: the folder of each marked one, without our own session.
    `unsettled`: pids in the middle of execve(2), whose environment cannot be read yet.
    """

    folders: dict[int, str]
    unsettled: frozenset[int]


def find_marked() -> dict[int, str]:
    """Return the folder of every marked process, without our own session. Takes tens of µs a process."""
    return look_for_marked().folders


def look_for_marked() -> MarkedProcesses:
    """Return the marked processes, and those that cannot be read yet. Takes tens of µs a process."""
    pids = (int(path.name) for path in _PROC.iterdir() if path.name.isdigit())
    found: dict[int, str | None] = {}
    for pid in pids:
        _find_folder(pid, found)
    folders = {pid: folder for pid, folder in found.items() if folder and not _is_ours(pid)}
    return MarkedProcesses(folders, frozenset(pid for pid, folder in found.items() if folder is None))


def marked_folder(pid: int) -> str | None:
    """Return the display folder of `pid`, "" for none, None in the middle of execve(2).

    For a program that overwrote its environment (Chromium does, to show a title) the folder is that of the log that it
    writes to as a launched program, or else that of its parent.
    """
    found: dict[int, str | None] = {}
    _find_folder(pid, found)
    return found[pid]


def _find_folder(pid: int, folders: dict[int, str | None]) -> None:
    """Add the folders of `pid` and of its ancestors to `folders`; what is in there already is not read again."""
    bare = []
    while pid and pid not in folders:
        try:
            own = folders[pid] = _own_folder(pid)
        except PermissionError:  # it became another user's (sudo), which we could not signal
            folders[pid] = ""
            break
        if own != "":
            break
        bare.append(pid)
        pid = _find_parent(pid)
    folder = folders.get(pid) or ""
    folders.update(dict.fromkeys(bare, folder))


def _own_folder(pid: int) -> str | None:
    try:
        block = (_PROC / str(pid) / "environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    if not block and _may_get_environment(pid):
        return None
    begin = f"{MARKER}=".encode()
    marker = next((item for item in block.split(b"\0") if item.startswith(begin)), begin)
    return os.fsdecode(marker[len(begin) :]) or _logged_folder(pid)


def _logged_folder(pid: int) -> str:
    """Return the folder of the log that `pid` writes to as a program launched on a display, "" for none."""
    for number in (1, 2):
        try:
            log = (_PROC / str(pid) / "fd" / str(number)).readlink()
        except OSError:
            continue
        if log.name.startswith(LAUNCHED) and log.parent.name.isdigit():
            return str(log.parent)
    return ""


def _find_parent(pid: int) -> int:
    """Return the parent of `pid`; 0 for one that belongs to no display: init, our own session, or gone."""
    try:
        parent = int(_stat_fields(pid)[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return 0 if parent <= 1 or _is_ours(parent) else parent


def _may_get_environment(pid: int) -> bool:
    """Return whether `pid`, whose environment was just read as empty, may be in execve(2): it is no kernel thread, no
    zombie and was not started without one. The kernel sets the start of the code (field 26) last.
    """
    try:
        fields = _stat_fields(pid)
    except (FileNotFoundError, ProcessLookupError):
        return False
    if fields[0] in (b"Z", b"X") or int(fields[6]) & _PF_KTHREAD:
        return False
    code, env_start, env_end = int(fields[23]), int(fields[47]), int(fields[48])
    return code == 0 or env_start != env_end


def _is_ours(pid: int) -> bool:
    # A daemon started by hand from a terminal of a managed display carries the marker too, and must not end itself.
    try:
        return pid == os.getpid() or os.getsid(pid) == os.getsid(0)
    except ProcessLookupError:
        return False
