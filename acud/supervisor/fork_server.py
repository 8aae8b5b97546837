"""Forks children from a process that has imported everything, which is faster than executing each."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import IO

from acud.base import log
from acud.process.child_process import FORK_FLAG
from acud.process.event_loop import EventLoop, Timer

_LOG = log.logger("fork_server")
_PAUSE_S = 10.0  # from its end to its next start; children are executed meanwhile
KILLED_S = 2.0
"""How long to wait for the end of a killed child, which takes milliseconds unless another process traces it."""
_REAP_EACH_S = 0.002
_MOST_BYTES = 32

OnBorn = Callable[[int], None]


class ForkedChild:
    """A forked process that is our child, with the part of `subprocess.Popen` that `ChildKeeper` needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def kill(self) -> None:
        """Kill the child. Its exit status must not have been collected yet."""
        os.kill(self.pid, 9)

    def poll(self) -> int | None:
        """Reap it; return its exit code, or minus the signal, and None while it runs or another process traces it."""
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            return 1  # it is not our child after all: its exit code is unknown
        return os.waitstatus_to_exitcode(status) if pid else None


def reap(process: subprocess.Popen[bytes] | ForkedChild, within_s: float = 0.0) -> int | None:
    """Return a child's exit code; None if it runs after `within_s`, or another process traces it. Never waits without a
    limit: a debugger or a crash handler holds the status of a traced process for any time.
    """
    until_s = time.monotonic() + within_s
    while (code := process.poll()) is None and time.monotonic() < until_s:
        select.select((), (), (), _REAP_EACH_S)  # no pidfd, as there may be no descriptor left
    return code


class ForkServer:
    """Owns the fork server of `module`: starts it with the first order, and again some time after a failure. One that
    does not stay ends once all orders are forked, and is started again with the next order.

    `fault`: why the newest one failed, "" while it serves and after a regular end. One that forks nothing for `late_s`
    is hung and killed.
    """

    def __init__(
        self, loop: EventLoop, module: str, stderr: IO[bytes], env: dict[str, str], late_s: float, *, stays: bool
    ) -> None:
        self._loop, self._module, self._stderr, self._env = loop, module, stderr, env
        self._late_s, self._stays = late_s, stays
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._pending: deque[tuple[OnBorn, Timer]] = deque()
        self._not_before_s = 0.0
        self.fault = ""

    @property
    def pid(self) -> int:
        """The server's pid; 0 when none runs."""
        return self._process.pid if self._process is not None else 0

    @property
    def has_pending(self) -> bool:
        return bool(self._pending)

    def fork(self, order: bytes, on_born: OnBorn) -> bool:
        """Have a process forked for `order`; `on_born` gets its pid later, or 0 when that failed. Return False when
        nothing was ordered, as there is no server or its queue is full.
        """
        if self._socket is None and self._loop.now_s() >= self._not_before_s:
            try:
                self._start_server()
            except OSError as fault:
                self._note_failure(f"it could not be started: {fault.strerror or fault}")
        if self._socket is None:
            return False
        try:
            self._socket.send(order)
        except OSError:  # full, or it has ended: then its end is read next
            return False
        self._pending.append((on_born, self._loop.call_later(self._late_s, self._on_late)))
        return True

    def close(self) -> None:
        """End the server; pending orders get no answer. Closing twice is harmless."""
        self._close_server()
        self._pending.clear()

    def _start_server(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", self._module, FORK_FLAG]
        with contextlib.ExitStack() as unless_started, theirs:
            unless_started.enter_context(ours)
            self._process = subprocess.Popen(
                command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=self._stderr, env=self._env
            )
            unless_started.pop_all()
        ours.setblocking(False)
        self._socket, self.fault = ours, ""
        self._loop.watch(ours, self._read_answers)

    def _read_answers(self) -> None:
        while (answer := self._read_answer()) is not None:
            if not answer:
                self._on_server_ended("it ended")
                return
            self._pass_pid(answer)
        if not self._stays and not self._pending:
            self._close_server()

    def _pass_pid(self, answer: bytes) -> None:
        on_born, timer = self._pending.popleft()
        timer.cancel()
        on_born(int(answer))

    def _on_late(self) -> None:
        self._on_server_ended(f"it forked nothing for {self._late_s:g} s")

    def _on_server_ended(self, reason: str) -> None:
        self._drain_answers()
        self._close_server()
        self._note_failure(reason)
        pending, self._pending = self._pending, deque()
        for on_born, timer in pending:
            timer.cancel()
            on_born(0)

    def _drain_answers(self) -> None:
        """Take the answers that are there already, and block later ones: the server kills children it cannot report.
        Else a child forked at this moment would run beside the one executed in its place, with the same identity.
        """
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RD)  # a send fails from now on; what was sent before can be read
        while self._pending and (answer := self._read_answer()):
            self._pass_pid(answer)

    def _read_answer(self) -> bytes | None:
        """Return the next answer; b"" when the server ended, None when there is none yet."""
        if self._socket is None:
            return None
        try:
            return self._socket.recv(_MOST_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _note_failure(self, reason: str) -> None:
        self.fault = reason
        self._not_before_s = self._loop.now_s() + _PAUSE_S
        _LOG.warning("forks.ended", module=self._module, reason=reason, pending=len(self._pending))

    def _close_server(self) -> None:
        if self._socket is None or self._process is None:
            return
        self._loop.unwatch(self._socket)
        self._socket.close()
        self._process.kill()
        reap(self._process, KILLED_S)
        self._socket = self._process = None
