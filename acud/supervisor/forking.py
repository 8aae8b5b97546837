"""Capture processes forked from one that has imported everything (`acud.forks`), instead of executed each."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from typing import IO

from acud import log
from acud.forks import FLAG
from acud.loop import Loop, Timer

_LOG = log.logger("forking")
_PAUSE_S = 10.0
"""From its end to its next start; processes are executed meanwhile."""
_MOST_BYTES = 32

Born = Callable[[int], None]


class Forked:
    """A process that was forked for us and is our child, with the little of `subprocess.Popen` that a keeper needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def kill(self) -> None:
        """Kill it; it must not have been waited for."""
        os.kill(self.pid, 9)

    def wait(self) -> int:
        """Reap it, blocking; return its exit code, or minus the signal."""
        try:
            return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        except ChildProcessError:
            return 1  # it is not our child after all: how it ended is not known


class Forking:
    """Owns the fork server of `module`: started with the first order, and again some time after it ended.

    `fault` says why the newest one ended, "" while it serves. One that forks nothing for `late_s` is hung and ended.
    """

    def __init__(self, loop: Loop, module: str, stderr: IO[bytes], env: dict[str, str], late_s: float) -> None:
        self._loop, self._module, self._stderr, self._env, self._late_s = loop, module, stderr, env, late_s
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._pending: deque[tuple[Born, Timer]] = deque()
        self._not_before_s = 0.0
        self.fault = ""

    @property
    def pid(self) -> int:
        """The server's pid; 0 when none runs."""
        return self._process.pid if self._process is not None else 0

    @property
    def is_bearing(self) -> bool:
        """Whether there are orders of which the pid is still to come."""
        return bool(self._pending)

    def fork(self, order: bytes, born: Born) -> bool:
        """Have a process forked for `order`; `born` gets its pid, later, or 0 when there will be none.

        False: nothing was ordered, as there is no server, or it takes no more.
        """
        if self._socket is None and self._loop.now_s() >= self._not_before_s:
            self._start()
        if self._socket is None:
            return False
        try:
            self._socket.send(order)
        except OSError:  # full, or it has ended: then its end is read next
            return False
        self._pending.append((born, self._loop.call_later(self._late_s, self._late)))
        return True

    def close(self) -> None:
        """End the server; what was ordered is not told of any more. Closing twice is harmless."""
        self._drop()
        self._pending.clear()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", self._module, FLAG]
        with theirs:
            self._process = subprocess.Popen(
                command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=self._stderr, env=self._env
            )
        ours.setblocking(False)
        self._socket, self.fault = ours, ""
        self._loop.watch(ours, self._read)

    def _read(self) -> None:
        while self._socket is not None:
            try:
                data = self._socket.recv(_MOST_BYTES)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._gone("it ended")
                return
            born, timer = self._pending.popleft()
            timer.cancel()
            born(int(data))

    def _late(self) -> None:
        self._gone(f"it forked nothing for {self._late_s:g} s")

    def _gone(self, reason: str) -> None:
        self._drop()
        self.fault = reason
        self._not_before_s = self._loop.now_s() + _PAUSE_S
        _LOG.warning("forks.ended", module=self._module, reason=reason, pending=len(self._pending))
        pending, self._pending = self._pending, deque()
        for born, timer in pending:
            timer.cancel()
            born(0)

    def _drop(self) -> None:
        if self._socket is None or self._process is None:
            return
        self._loop.unwatch(self._socket)
        self._socket.close()
        self._process.kill()
        self._process.wait()
        self._socket = self._process = None
