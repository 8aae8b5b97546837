"""Notices that a terminal was written to, from inotify on its device, so that short-lived output is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from acud.base import log
from acud.process.event_loop import EventLoop
from acud.supervisor.host_conditions.inotify import MODIFY, ONESHOT, Inotify

_LOG = log.logger("sessions")


class OutputNotices:
    """Calls `on_output` with a target's `pty` once one of its terminals is written to, once for each `expect`."""

    def __init__(self, loop: EventLoop, on_output: Callable[[str], None]) -> None:
        self._loop, self._on_output = loop, on_output
        self._inotify: Inotify | None = None
        self._expected: dict[int, set[str]] = {}  # by watch: the targets that show its terminal

    def expect(self, pty: str, ttys: Iterable[str]) -> None:
        """Give one notice of the next output on `ttys` ("pts/3"); a log line where inotify cannot."""
        for tty in ttys:
            try:
                watch = self._open().add(f"/dev/{tty}", MODIFY | ONESHOT)
            except FileNotFoundError:
                continue  # the terminal has just closed, as the next survey shows
            except OSError as fault:
                _LOG.warning("tmux.no_notices", fault=fault.strerror)
                return
            self._expected.setdefault(watch, set()).add(pty)

    def _open(self) -> Inotify:
        if self._inotify is None:
            self._inotify = Inotify(only_folders=False)
            self._loop.watch(self._inotify, self._on_readable)
        return self._inotify

    def _on_readable(self) -> None:
        for event in self._inotify.read() if self._inotify is not None else ():
            for pty in self._expected.pop(event.watch, ()):
                self._on_output(pty)
