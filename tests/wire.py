"""Two network namespaces and the wire between them: who is in the far one reaches one address in the near one, until
the link is set down.

The test itself moves into the near one. The machine's own interfaces stay as they are: Chromium gives up the
connections that it is making (ERR_NETWORK_CHANGED) when an address or a link of its namespace comes or goes.
"""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import subprocess
from contextlib import ExitStack
from types import TracebackType
from typing import Self

_NETWORK = 0x40000000  # CLONE_NEWNET (setns(2))
_LIBC = ctypes.CDLL(None, use_errno=True)


class NotPermitted(Exception):
    """This machine lets nobody make network namespaces; the message says what was tried and why it failed."""


class Wire:
    """Use in `with`: this thread, and what it starts, is in the near namespace meanwhile. `prefix`: the command that
    puts a program into the far one. `address`: where servers are to listen, an address of the near one's loopback
    interface, so that it stays whole when the link goes down.
    """

    address = "10.64.1.200"

    def __init__(self) -> None:
        name = f"acud-{os.getpid()}-{random.SystemRandom().randrange(0x1000):x}"
        self._near, self._far = f"{name}-near", f"{name}-far"
        self.prefix = ("nsenter", f"--net=/run/netns/{self._far}", "--")
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        if shutil.which("ip") is None:
            raise NotPermitted("there is no `ip` (Debian: iproute2)")
        with self._undo as undo:
            try:
                self._make(undo)
            except (OSError, subprocess.CalledProcessError) as fault:
                raise NotPermitted(_words(fault)) from fault
            self._undo = undo.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._undo.close()

    def _make(self, undo: ExitStack) -> None:
        for name in (self._near, self._far):
            _ip(f"netns add {name}")
            undo.callback(_ip, f"netns del {name}")
        home, near = (os.open(path, os.O_RDONLY) for path in ("/proc/thread-self/ns/net", f"/run/netns/{self._near}"))
        undo.callback(os.close, home)
        undo.callback(os.close, near)
        _move(near)
        undo.callback(_move, home)
        _ip(f"link add wire type veth peer name inner netns {self._far}")
        _ip("addr add 10.64.1.1/25 dev wire")
        _ip(f"addr add {self.address}/32 dev lo")
        _ip("link set lo up")
        _ip("link set wire up")
        inside = f"-n {self._far}"
        _ip(f"{inside} link set lo up")
        _ip(f"{inside} addr add 10.64.1.2/25 dev inner")
        _ip(f"{inside} link set inner up")
        _ip(f"{inside} route add {self.address}/32 via 10.64.1.1")

    def cut(self) -> None:
        """Set the link down: connections stay open on both sides, and nothing comes any more."""
        _ip("link set wire down")

    def heal(self) -> None:
        _ip("link set wire up")


def _move(namespace: int) -> None:
    """Move this thread into the network namespace that is open as the file `namespace`."""
    if _LIBC.setns(namespace, _NETWORK):
        raise OSError(ctypes.get_errno(), "setns")


def _ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], capture_output=True, check=True, text=True)


def _words(fault: OSError | subprocess.CalledProcessError) -> str:
    if isinstance(fault, subprocess.CalledProcessError):
        return f"{' '.join(fault.cmd)}: {str(fault.stderr).strip()}"
    return str(fault)
