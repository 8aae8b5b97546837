"""One process, watched through its pidfd in the event loop: started by us, or found."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from acud.base import private_files
from acud.base.errors import Unavailable
from acud.process.event_loop import EventLoop
from acud.supervisor.displays import proc_files

_TRACED_S = 1.0
"""How often a process that ended is reaped again while another process (a debugger, a crash handler) traces it."""


class WatchedProcess:
    """A running process. When it ends it is reaped (if it is our child) and `on_exit(self, reason)` is called once.

    Owns its pidfd until the exit or `close`. `on_exit` may be replaced at any time. `exit_code`: of a child that ended,
    a signal's number negative; None while it runs, or if unknown.
    """

    def __init__(
        self,
        loop: EventLoop,
        pid: int,
        on_exit: Callable[[WatchedProcess, str], None],
        child: subprocess.Popen[bytes] | None = None,
    ) -> None:
        """Watch `pid`. Raises: ProcessLookupError when it is gone."""
        self.pid, self.on_exit = pid, on_exit
        self.exit_code: int | None = None
        self._loop, self._child = loop, child
        self._fd = os.pidfd_open(pid)
        self.start_ticks = proc_files.start_ticks(pid) or 0
        loop.watch(self._fd, self._on_readable)

    @property
    def alive(self) -> bool:
        """Whether its end has not been seen yet."""
        return self._fd >= 0

    def send(self, number: signal.Signals) -> None:
        """Send a signal, unless the process has ended."""
        if self._fd < 0:
            return
        try:
            signal.pidfd_send_signal(self._fd, number)
        except ProcessLookupError:
            return  # ended, and the loop has not noticed yet

    def close(self) -> None:
        """Stop watching and leave the process alone; closing twice is harmless."""
        if self._fd >= 0:
            self._loop.unwatch(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _on_readable(self) -> None:
        # A descriptor reused within one turn can be called for its predecessor's events.
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        if not poll.poll(0):
            return
        self.close()
        self.on_exit(self, self._reap_child())

    def _reap_child(self) -> str:
        if self._child is None:
            return "ended"  # not started here: its parent gets its status
        self.exit_code = self._child.poll()
        if self.exit_code is not None:
            code = self.exit_code
            return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        self._reap_later()
        return "ended, traced by another process, which holds its status"

    def _reap_later(self) -> None:
        if self._child is not None and self._child.poll() is None:
            self._loop.call_later(_TRACED_S, self._reap_later)


def ignore_exit(process: WatchedProcess, reason: str) -> None:
    """Do nothing: the end was requested, or is handled elsewhere."""


WELL = "exit status 0"


def spawn(
    loop: EventLoop,
    command: list[str],
    env: Mapping[str, str],
    log: Path,
    on_exit: Callable[[WatchedProcess, str], None],
    pass_fds: tuple[int, ...] = (),
    cwd: str = "/",
) -> WatchedProcess:
    """Start `command` in a session of its own (it outlives us), in the directory `cwd`, its output appended to `log`.
    Raises: Unavailable naming the program when it cannot be started.
    """
    try:
        with os.fdopen(private_files.open_regular(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as output:
            child = subprocess.Popen(
                command,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=pass_fds,
                cwd=cwd,
            )
    except OSError as fault:
        raise Unavailable(
            f"cannot start {command[0]}: {fault.strerror}", hint="install it, or check PATH (acud doctor)"
        ) from fault
    return WatchedProcess(loop, child.pid, on_exit, child)
