"""X display numbers: which are taken, and what a killed X server left of them."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

from acud.base import private_files
from acud.base.errors import Refused
from acud.supervisor.displays import proc_files
from acud.x11 import auth

_TMP = Path("/tmp")  # noqa: S108 - X's own places (Xserver(1), FILES)
_LAST = 65535
_NET_UNIX = Path("/proc/net/unix")


def lock_file(number: int) -> Path:
    """Return X's lock file of display `number`; it holds the server's pid."""
    return _TMP / f".X{number}-lock"


def socket_file(number: int) -> Path:
    return auth.socket_path(number)


def next_free(first: int, reserved: set[int]) -> int:
    """Return the lowest unused number from `first` on. Raises: Refused when all are in use."""
    taken = reserved | _find_listening()
    for number in range(first, _LAST + 1):
        if number not in taken and not os.path.lexists(lock_file(number)) and not os.path.lexists(socket_file(number)):
            return number
    raise Refused(f"no free X display number from :{first} on", hint="end some displays, or lower display.first_number")


def _find_listening() -> set[int]:
    # Linux's abstract sockets have no file (unix(7)); another mount namespace's server shows here alone.
    begin = "@/tmp/.X11-unix/X"
    lines = _NET_UNIX.read_text(encoding="ascii", errors="replace").splitlines()
    names = (line.rsplit(" ", 1)[-1] for line in lines if begin in line)
    return {int(name.removeprefix(begin)) for name in names if name.removeprefix(begin).isdigit()}


def claim(first: int, reserved: set[int]) -> int:
    """Return the lowest free number from `first` on; this process holds X's lock file of it until `hand_lock`.

    The lock keeps two supervisors from choosing the same number. Sockets alone would not: if two network namespaces
    share /tmp, the later X server takes the earlier one's socket. Raises: Refused when none is free; OSError.
    """
    while True:
        number = next_free(first, reserved)
        lock = lock_file(number)
        with _make_draft(lock, os.getpid()) as draft, contextlib.suppress(FileExistsError):
            os.link(draft, lock, follow_symlinks=False)
            return number


def hand_lock(number: int, pid: int) -> None:
    """Write the server's `pid` into the lock file of a number that was claimed. Raises: OSError. With `-displayfd` the
    server writes none itself, and programs that choose numbers by lock files alone (xvfb-run -a) would choose this one.
    """
    lock = lock_file(number)
    with _make_draft(lock, pid) as draft:
        draft.replace(lock)


@contextlib.contextmanager
def _make_draft(lock: Path, pid: int) -> Iterator[Path]:
    """Yield a complete file that becomes the lock atomically, as X does it. Every user can write to the folder, so the
    name is random and an existing file is never opened.
    """
    draft = lock.with_name(f".t{lock.name.removeprefix('.')}.{secrets.token_hex(16)}")
    descriptor = private_files.open_regular(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(f"{pid:10d}\n".encode("ascii"))
            os.fchmod(descriptor, 0o444)
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def clear(number: int) -> bool:
    """Remove the lock and socket that a killed server of this user left, or a claim of ours without a server. Return
    False when a server of this user listens there. Raises: OSError.
    """
    lock = lock_file(number)
    if _is_ours(lock) and _is_over(_lock_holder(lock)):
        lock.unlink(missing_ok=True)
    path = socket_file(number)
    if not _is_ours(path):
        return True
    if _has_listener(path):
        return False
    if not lock.exists():
        path.unlink(missing_ok=True)
    return True


def _is_over(pid: int) -> bool:
    return pid == os.getpid() or proc_files.start_ticks(pid) is None


def _lock_holder(lock: Path) -> int:
    text = private_files.read_regular(lock).decode("ascii", "replace").strip()
    return int(text) if text.isdigit() else -1


def _is_ours(path: Path) -> bool:
    try:
        return path.lstat().st_uid == os.getuid()
    except FileNotFoundError:
        return False


def _has_listener(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as probe:
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except BlockingIOError:  # its backlog is full: a server listens
            return True
    return True
