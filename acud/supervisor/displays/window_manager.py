"""The window manager of one display, started again a bounded number of times when it ends."""

from __future__ import annotations

import re
import shutil
from collections import deque
from collections.abc import Callable, Mapping

from acud.base.clock import Clock
from acud.base.errors import InvalidRequest, Unavailable
from acud.process.event_loop import EventLoop, Timer
from acud.supervisor.displays.folders import DisplayFolders
from acud.supervisor.displays.watched_process import WatchedProcess, spawn

_PROGRAM = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$")
_BACKOFF_S = 0.5  # also long enough that the end of the X server, which ends the window manager, is seen first


def check_name(program: str) -> str:
    """Return `program`. Raises: InvalidRequest unless it is a bare program name."""
    if not _PROGRAM.match(program):
        raise InvalidRequest(f"not a program name: {program[:80]!r}", hint="a name on PATH such as openbox, or none")
    return program


class RestartBudget:
    """Allows `limit` restarts within `window_s` seconds."""

    def __init__(self, limit: int, window_s: float, clock: Clock) -> None:
        self.limit, self.window_s = limit, window_s
        self._now = clock.monotonic_s
        self._ends: deque[float] = deque()

    def spend(self) -> bool:
        """Count one end; return whether another start is allowed."""
        now = self._now()
        self._ends.append(now)
        while self._ends[0] < now - self.window_s:
            self._ends.popleft()
        return len(self._ends) <= self.limit


class WindowManager:
    """Keeps `program` running on a display until `stop_restarting`. `on_change` follows each start and each end.

    `note`: what is wrong, "" for nothing.
    """

    def __init__(
        self,
        loop: EventLoop,
        program: str,
        places: DisplayFolders,
        env: Mapping[str, str],
        budget: RestartBudget,
        on_change: Callable[[], None],
    ) -> None:
        self.program = program
        self.process: WatchedProcess | None = None
        self.note = ""
        self._loop, self._places, self._env = loop, places, env
        self._budget, self._on_change = budget, on_change
        self._timer: Timer | None = None

    def start(self) -> None:
        """Start the window manager, or set `note` to why it cannot start."""
        if shutil.which(self.program, path=self._env.get("PATH")) is None:
            self.note = f"no window manager: {self.program} is not installed"
            return
        try:
            log = self._places.log("window_manager")
            self.process = spawn(self._loop, [self.program], self._env, log, self._on_exit)
            self.note = ""
        except Unavailable as fault:
            self.note = f"no window manager: {fault.message}"

    def adopt(self, process: WatchedProcess) -> None:
        """Watch one that an earlier supervisor started."""
        self.process = process
        process.on_exit = self._on_exit

    def stop_restarting(self) -> None:
        """Start it no more; the process itself is left to the caller."""
        if self._timer is not None:
            self._timer.cancel()

    def _on_exit(self, process: WatchedProcess, reason: str) -> None:
        self.process = None
        if self._budget.spend():
            self.note = f"window manager {self.program} ended ({reason}); starting it again"
            self._timer = self._loop.call_later(_BACKOFF_S, self._restart_process)
        else:
            limits = f"{self._budget.limit} times within {self._budget.window_s:g} s"
            self.note = f"window manager {self.program} ended more than {limits}; not started again: {reason}"
        self._on_change()

    def _restart_process(self) -> None:
        self.start()
        self._on_change()
