"""A process that has imported everything and forks for each order: a start then costs a fork and not the imports.

`python -m acud.capture --forks` is one. It is single-threaded while it serves (no ZeroMQ context, no pool), so that a
fork takes nothing along that it breaks. What it forks becomes a child of the supervisor, as what that executes is.
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import sys
import time
from pathlib import Path

FLAG = "--forks"
NAME = "acud-forks"
"""What `ps` calls the server, whose command line those that it forks share (proc_pid_comm(5))."""
_MOST_BYTES = 1 << 20
_ADOPTION_POLL_S = 0.0005


def order() -> bytes:
    """Serve on standard input, a SOCK_SEQPACKET socket: fork for each message, and return it in the new process only.

    Each is answered with the new process's pid as decimal text, `0` when there is none. The server ends with the
    socket.
    """
    before = _named(NAME)
    gc.collect()
    gc.freeze()  # what the collector never looks at stays shared with what is forked (gc.freeze)
    with socket.socket(fileno=os.dup(0)) as supervisor:
        while True:
            data = supervisor.recv(_MOST_BYTES)
            if not data:
                sys.exit(0)
            if _forked(supervisor):
                break
    _named(before)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return data


def _named(name: str) -> str:
    """Give this process that name; return the one it had."""
    place = Path("/proc/self/comm")
    before = place.read_text(encoding="utf-8").rstrip("\n")
    place.write_text(name, encoding="utf-8")
    return before


def _forked(supervisor: socket.socket) -> bool:
    """Return True in the new process and False in the server.

    It is forked by a process in between, which ends: an orphan is adopted by the nearest subreaper, the supervisor
    (prctl(2), PR_SET_CHILD_SUBREAPER), which so gets its status and is who it dies with.
    """
    try:
        between = os.fork()
    except OSError:
        supervisor.send(b"0")
        return False
    if between:
        if os.waitpid(between, 0)[1]:
            sys.exit(1)  # it was killed, perhaps before it answered: the next answer would be taken for this one
        return False
    parent = os.getpid()
    if _is_new(supervisor):
        while os.getppid() == parent:
            time.sleep(_ADOPTION_POLL_S)
        return True
    os._exit(0)


def _is_new(supervisor: socket.socket) -> bool:
    """Fork, and tell the supervisor whom; return True in the new process, once that is told. Untold it ends."""
    pid, heard, telling = -1, -1, -1
    with contextlib.suppress(OSError):
        heard, telling = os.pipe()
        pid = os.fork()
    if pid == 0:
        os.close(telling)
        if not os.read(heard, 1):
            os._exit(1)
        os.close(heard)
        return True
    with contextlib.suppress(OSError):  # nobody hears of it: the supervisor is gone, or gave the server up
        supervisor.send(str(max(0, pid)).encode())
        if pid > 0:
            os.write(telling, b"1")
    return False
