"""Starting a program that says on a pipe when it serves: Xvfb's `-displayfd`, dbus-daemon's `--print-address`."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

from acud import private_files
from acud.event_loop import EventLoop
from acud.supervisor.displays.watched import WatchedProcess, ignore_exit, spawn

_MAX_LINE_BYTES = 4096
_LOG_TAIL_BYTES = 2000


class Startup:
    """One attempt. Ends with exactly one of `on_up(process, line)` and `on_failed(reason)`, or with `detach`.

    `command` is given the number of the pipe's write end. A program that says nothing for `deadline_s` is killed; its
    end is then still awaited before `on_failed`. Owns both ends of the pipe, and the process until `on_up`.
    """

    def __init__(
        self,
        loop: EventLoop,
        command: Callable[[int], list[str]],
        env: Mapping[str, str],
        log: Path,
        deadline_s: float,
        on_up: Callable[[WatchedProcess, str], None],
        on_failed: Callable[[str], None],
    ) -> None:
        """Start it. Raises: Unavailable when the program cannot be started."""
        self._loop, self._log, self._on_up, self._on_failed = loop, log, on_up, on_failed
        self._deadline_s = deadline_s
        self._late = False
        self._said = b""
        self._read_fd, write_fd = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            os.set_blocking(write_fd, True)
            self.process = spawn(loop, command(write_fd), env, log, self._exited, (write_fd,))
        except BaseException:
            os.close(self._read_fd)
            raise
        finally:
            os.close(write_fd)
        loop.watch(self._read_fd, self._readable)
        self._timer = loop.call_later(deadline_s, self._expired)

    def detach(self) -> WatchedProcess:
        """Call nobody any more; return the process, which is now the caller's."""
        self._finish()
        self.process.on_exit = ignore_exit
        return self.process

    def _readable(self) -> None:
        try:
            data = os.read(self._read_fd, _MAX_LINE_BYTES)
        except BlockingIOError:
            return
        self._said += data
        if b"\n" in self._said and not self._late:
            self._finish()
            self._on_up(self.process, self._said.split(b"\n", 1)[0].decode("utf-8", "replace"))
        elif not data:
            self._loop.unwatch(self._read_fd)  # closed without a word: its exit or the deadline follows

    def _expired(self) -> None:
        self._late = True
        self.process.send(signal.SIGKILL)

    def _exited(self, process: WatchedProcess, reason: str) -> None:
        self._finish()
        told = f"no answer within {self._deadline_s:.2g} s" if self._late else reason
        self._on_failed(f"{told}{last_words(self._log)}")

    def _finish(self) -> None:
        self._timer.cancel()
        if self._read_fd >= 0:
            self._loop.unwatch(self._read_fd)
            os.close(self._read_fd)
            self._read_fd = -1


def last_words(log: Path) -> str:
    """Return ": " and the last three lines of a program's log; "" when it said nothing."""
    if not log.exists():
        return ""
    with os.fdopen(private_files.open_regular(log), "rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_TAIL_BYTES))
        lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return f": {' / '.join(lines[-3:])}" if lines else ""
