"""inotify(7), for the event loop: watches on files and folders, and their events."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

MODIFY, ATTRIB, CLOSE_WRITE = 0x2, 0x4, 0x8
MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x40, 0x80, 0x100, 0x200
DELETE_SELF, MOVE_SELF = 0x400, 0x800
UNMOUNT, OVERFLOW, IGNORED = 0x2000, 0x4000, 0x8000
_ONLY_FOLDERS, _ADD_TO_MASK, ONESHOT = 0x01000000, 0x20000000, 0x80000000
"""Values of <sys/inotify.h>."""
_HEADER = struct.Struct("iIII")
_READ_BYTES = 64 * 1024


class InotifyEvent(NamedTuple):
    """What happened to `name` in the folder of the watch `watch`, or to itself ("")."""

    watch: int
    mask: int
    name: str


class Inotify:
    """One inotify instance. Owns its descriptor until `close`; `read` never blocks."""

    def __init__(self, *, only_folders: bool = True) -> None:
        """Raises: OSError, EMFILE where the user has too many instances."""
        self._always = (_ONLY_FOLDERS if only_folders else 0) | _ADD_TO_MASK
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._check_result(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC), "inotify_init1")

    def fileno(self) -> int:
        """Return the descriptor; -1 when closed."""
        return self._fd

    def add(self, path: str, mask: int) -> int:
        """Add `mask` to what the folder (or file) at `path` is watched for, links followed. Return its watch, the same
        one for the same folder. Raises: OSError.
        """
        watch = self._libc.inotify_add_watch(self._fd, os.fsencode(path), ctypes.c_uint32(mask | self._always))
        return self._check_result(watch, path)

    def remove(self, watch: int) -> None:
        """End a watch; harmless for one that the kernel has ended."""
        self._libc.inotify_rm_watch(self._fd, watch)

    def read(self) -> Iterator[InotifyEvent]:
        while True:
            try:
                block = os.read(self._fd, _READ_BYTES)
            except BlockingIOError:
                return
            at = 0
            while at < len(block):
                watch, mask, _, length = _HEADER.unpack_from(block, at)
                at += _HEADER.size
                yield InotifyEvent(watch, mask, os.fsdecode(block[at : at + length].rstrip(b"\0")))
                at += length

    def close(self) -> None:
        """Close the descriptor; closing twice is harmless."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    @staticmethod
    def _check_result(result: int, what: str) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), what)
        return result
