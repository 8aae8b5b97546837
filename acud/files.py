"""Files opened without trust in who can write where they lie: no link is followed, nothing but a file is opened.

A FIFO laid in a file's place holds up whoever opens it until its other end comes; a link leads elsewhere. The
supervisor opens files this way alone; a test looks for others.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def opened(path: Path, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Return a descriptor of the regular file at `path`; never waits. `mode`: of a file that O_CREAT makes.

    Raises: OSError, also for a link and for what is no regular file.
    """
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, mode)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.set_blocking(descriptor, True)
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is no regular file", str(path))


def read(path: Path) -> bytes:
    """Return what the regular file at `path` holds. Raises: OSError, as `opened`."""
    with os.fdopen(opened(path), "rb") as file:
        return file.read()
