"""One supervisor per ACU_HOME: the lock that ensures it, and the sweep of what a dead one left."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from pathlib import Path

from acud.base import private_files
from acud.base.errors import Conflict
from acud.base.paths import Paths, make_private


class InstanceLock:
    """An advisory lock on a file that names the holder's pid; the kernel releases it with the process (flock(2))."""

    def __init__(self, path: Path) -> None:
        self._fd = private_files.open_regular(path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = private_files.read_regular(path).decode("ascii", "replace").strip() or "unknown"
            os.close(self._fd)
            raise Conflict(
                f"a supervisor already runs for {path.parent} (pid {holder})",
                hint="acud status, or acud daemon stop",
                pid=int(holder) if holder.isdigit() else 0,
            ) from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Give the lock up; releasing twice is harmless."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def prepare(paths: Paths) -> None:
    """Create the instance's private directories. Raises: Refused when one belongs to another user."""
    private = (paths.evidence, paths.recordings, paths.displays, paths.spool)
    for directory in (paths.home, paths.run, paths.debug_log.parent, *private):
        make_private(directory)


def remove_leftovers(paths: Paths) -> list[str]:
    """Remove sockets and spooled pictures of a dead supervisor; return what was removed. Hold the lock first. Its rings
    still show what changed until it died: `acud.supervisor.orphaned_rings` keeps those it needs.
    """
    make_private(paths.shm)  # first: in /dev/shm any user may have made a link of this name to a directory of ours
    removed = [str(path) for folder in (paths.run, paths.spool) for path in _find_leftovers(folder)]
    for name in removed:
        Path(name).unlink(missing_ok=True)
    return removed


def _find_leftovers(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if not path.is_dir()] if folder.is_dir() else []


def dismantle(paths: Paths, *, rings: bool = True) -> None:
    """Remove what only a running supervisor needs, at an orderly end. `rings` False keeps those of a killed supervisor,
    as one that could not start has not read them.
    """
    if rings:
        shutil.rmtree(paths.shm, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):  # there are some
            paths.shm.rmdir()
    for path in _find_leftovers(paths.run) + _find_leftovers(paths.spool):
        path.unlink(missing_ok=True)
