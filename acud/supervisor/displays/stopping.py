"""Ending processes in good order: asked first, killed after a deadline, awaited."""

from __future__ import annotations

import signal
from collections.abc import Callable

from acud.event_loop import EventLoop
from acud.supervisor.displays.watched import WatchedProcess

ASK_S = 2.0
"""How long a program may take to end by itself; toolkits that ask "save?" never do."""

KILL_S = 5.0
"""How long a killed process may take to go; one in uninterruptible I/O (proc(5), state D) can stay longer."""


class Stopping:
    """Ends `processes`, then calls `on_done(remaining)` once; `remaining` are the pids that even SIGKILL left."""

    def __init__(
        self,
        loop: EventLoop,
        processes: list[WatchedProcess],
        on_done: Callable[[tuple[int, ...]], None],
        *,
        ask_s: float = ASK_S,
        kill_s: float = KILL_S,
    ) -> None:
        self._loop, self._on_done, self._kill_s = loop, on_done, kill_s
        self._left = {process.pid: process for process in processes if process.alive}
        for process in self._left.values():
            process.on_exit = self._exited
            process.send(signal.SIGTERM)
            process.send(signal.SIGCONT)  # a stopped process handles SIGTERM only then (signal(7))
        self._timer = loop.call_later(ask_s if self._left else 0, self._kill)

    def _exited(self, process: WatchedProcess, reason: str) -> None:
        del self._left[process.pid]
        if not self._left:
            self._finish()

    def _kill(self) -> None:
        if not self._left:
            self._finish()
            return
        for process in self._left.values():
            process.send(signal.SIGKILL)
        self._timer = self._loop.call_later(self._kill_s, self._finish)

    def _finish(self) -> None:
        self._timer.cancel()
        remaining = tuple(self._left)
        for process in self._left.values():
            process.close()
        self._left.clear()
        self._on_done(remaining)
