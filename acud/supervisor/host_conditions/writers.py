"""Programs that have a file open for writing, as the kernel knows them.

The kernel grants a read lease (fcntl(2)) only while no program of any user has the file open for writing, by any hard
link, also through a memory map after closing the descriptor. It is given back at once. Where leases are not available
(another user's file, some file systems) the descriptors under /proc answer for the programs of this user.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from acud.base import private_files
from acud.supervisor.displays.proc_files import comm
from acud.waits.host_files import FileUse

_F_SETSIG = 10
_SHARED_FILE_SYSTEMS = {
    0x6969: "NFS",
    0xFF534D42: "CIFS",
    0xFE534D42: "SMB",
    0x65735546: "FUSE",
    0x01021997: "9P",
    0x00C36400: "Ceph",
    0x5346414F: "AFS",
    0x7461636F: "OCFS2",
    0x01161970: "GFS2",
    0x0BD00BD0: "Lustre",
    0x786F4256: "VirtualBox",
}
"""File systems that other machines write to, by the magic number of statfs(2)."""
_MOST_CPU_S = 0.05  # A search through /proc ends after this; the newest processes come first
_A_PROGRAM = "a program"


class FileWriters:
    """Finds the writers of files. A writer's name is looked up once while it has the file open."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._names: dict[tuple[int, int], str] = {}

    def find(self, path: str) -> FileUse:
        """Return which program has the regular file at `path` open for writing. Never waits for a lease."""
        try:
            descriptor = private_files.open_regular(Path(path))
        except BlockingIOError:  # a program's own write lease (Samba, an NFS server) is being broken by this look
            return FileUse(writer=_A_PROGRAM)
        except OSError as fault:
            return FileUse(unknown=f"the file cannot be opened ({fault.strerror})")
        try:
            return self._find_use(descriptor)
        finally:
            os.close(descriptor)

    def _find_use(self, descriptor: int) -> FileUse:
        file = os.fstat(descriptor)
        key = file.st_dev, file.st_ino
        try:
            # A program that opens the file meanwhile waits for these two calls; its signal must not end this process.
            fcntl.fcntl(descriptor, _F_SETSIG, signal.SIGURG)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        except OSError as fault:
            if fault.errno == errno.EAGAIN:
                if key not in self._names:
                    self._names = {**dict(list(self._names.items())[-99:]), key: _find_writer(file) or _A_PROGRAM}
                return FileUse(writer=self._names[key])
            writer = _find_writer(file)
            why = "it is another user's" if fault.errno == errno.EACCES else "its file system has no leases"
            return FileUse(writer=writer) if writer else FileUse(unknown=why)
        self._names.pop(key, None)
        shared = self._name_shared_file_system(descriptor)
        return FileUse(unknown=f"other machines can write to {shared}") if shared else FileUse()

    def _name_shared_file_system(self, descriptor: int) -> str:
        buffer = (ctypes.c_ulong * 32)()
        if self._libc.fstatfs(descriptor, buffer) < 0:
            return ""
        return _SHARED_FILE_SYSTEMS.get(buffer[0] & 0xFFFFFFFF, "")


def _find_writer(file: os.stat_result) -> str:
    """Return the program that has `file` open for writing, with its process; "" where none is found."""
    end_s = time.thread_time() + _MOST_CPU_S
    for pid in sorted((int(name) for name in os.listdir("/proc") if name.isdigit()), reverse=True):  # noqa: PTH208
        if any(_is_writing(pid, number, file) for number in _list_descriptors(pid)):
            name = "".join(sign if sign.isprintable() and sign != '"' else "?" for sign in comm(pid))
            return f"{name or _A_PROGRAM} (process {pid})"
        if time.thread_time() > end_s:
            break
    return ""


def _list_descriptors(pid: int) -> Iterator[str]:
    try:
        yield from os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208
    except OSError:  # it ended, or is another user's
        return


def _is_writing(pid: int, number: str, file: os.stat_result) -> bool:
    try:
        if not os.readlink(f"/proc/{pid}/fd/{number}").startswith("/"):  # noqa: PTH115  # a socket, a pipe
            return False
        fields = Path(f"/proc/{pid}/fdinfo/{number}").read_text(encoding="ascii").split()
        known = dict(zip(fields[::2], fields[1::2], strict=False))
        if not int(known["flags:"], 8) & os.O_ACCMODE or int(known.get("ino:", file.st_ino)) != file.st_ino:
            return False
        found = os.stat(f"/proc/{pid}/fd/{number}")  # noqa: PTH116
    except (OSError, ValueError, KeyError):
        return False
    return (found.st_dev, found.st_ino) == (file.st_dev, file.st_ino)
