"""Limits on the memory and processes of a display's programs, counted from /proc, and the killing of what exceeds them.

Counted every `[display] limits_check_s`, so a limit is exceeded for that long at most; the hard bound of everything
together is the service's (MemoryMax=, TasksMax= in conf/systemd). Without a limit nothing is read.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from acud.base import log
from acud.base.errors import Refused
from acud.config import DisplaySettings
from acud.process.event_loop import EventLoop, Timer
from acud.supervisor.displays import proc_files
from acud.supervisor.displays.managed_display import ManagedDisplay

_LOG = log.logger("displays")
_AGAIN_S = 0.2  # between two looks while something is over its limit: a fork bomb must not outrun the killing

OnLimited = Callable[[ManagedDisplay, str], None]


class Program(Struct, frozen=True):
    """One process of a display. `memory`: bytes that are its own, in memory or swapped out."""

    pid: int
    memory: int
    start_ticks: int


class LimitVerdict(Struct, frozen=True):
    """The processes to kill, in order, and why ("" for none)."""

    pids: tuple[int, ...] = ()
    reason: str = ""


def check_limits(programs: Iterable[Program], spared: frozenset[int], max_memory: int, most: int) -> LimitVerdict:
    """Return which of one display's `programs` to kill; 0 is no limit.

    Too many: the newest first, all of them at twice the limit (something forks without end), but never `spared`: the X
    server, the bus, the window manager. Too large: the largest first, also the X server, which holds clients' memory.
    """
    found = list(programs)
    if most and len(found) > most:
        others = sorted((one for one in found if one.pid not in spared), key=lambda one: -one.start_ticks)
        kept = 0 if len(found) > 2 * most else most
        chosen = others[: max(1, len(found) - kept)]
        return LimitVerdict(tuple(one.pid for one in chosen), f"{len(found)} processes, {most} are allowed")
    total = sum(one.memory for one in found)
    if max_memory and total > max_memory:
        return LimitVerdict(
            _pick_largest(found, total - max_memory), f"{_to_mb(total)} MB of memory, {_to_mb(max_memory)} are allowed"
        )
    return LimitVerdict()


def _pick_largest(programs: list[Program], excess: int) -> tuple[int, ...]:
    chosen = []
    for one in sorted(programs, key=lambda one: -one.memory):
        if excess <= 0:
            break
        chosen.append(one.pid)
        excess -= one.memory
    return tuple(chosen)


def _to_mb(size: int) -> int:
    return round(size / 1e6)


class Resources:
    """Holds the displays of `living` to the limits of `settings`; calls `on_limited` each time it killed programs."""

    def __init__(
        self, loop: EventLoop, settings: DisplaySettings, living: Mapping[str, ManagedDisplay], on_limited: OnLimited
    ) -> None:
        self._loop, self._settings = loop, settings
        self._living, self._limited = living, on_limited
        self._memory, self._most = int(settings.memory_mb * 1e6), settings.processes
        self._timer: Timer | None = None
        self._dying: dict[int, int] = {}
        """Killed processes that have not ended yet, with their start: not counted and not reported again."""
        self.killed: dict[int, str] = {}  # X servers that were killed here, and why, until their end was reported

    def watch(self) -> None:
        """Start the timer that checks the memory and processes of displays and ends programs above a limit, if there is
        a limit. The timer stops with the last display.
        """
        if self._timer is None and (self._memory or self._most):
            self._timer = self._loop.call_later(self._settings.limits_check_s, self._check_all)

    def check_room(self, display: ManagedDisplay) -> None:
        """Raise Refused when another program on `display` would be one too many."""
        if not self._memory and not self._most:
            return
        found = _measure_programs(_find_pids(display))
        total = sum(one.memory for one in found)
        if (self._most and len(found) >= self._most) or (self._memory and total >= self._memory):
            raise Refused(
                f"display {display.name} is at its limit: {len(found)} processes, {_to_mb(total)} MB of memory",
                hint="end programs there, or raise [display] processes or memory_mb",
            )

    def _check_all(self) -> None:
        self._timer = None
        living = list(self._living.values())
        self._dying = {pid: start for pid, start in self._dying.items() if proc_files.start_ticks(pid) == start}
        marked = proc_files.find_marked() if living else {}
        over = [display for display in living if self._enforce_limits(display, marked)]
        if living:
            self._timer = self._loop.call_later(_AGAIN_S if over else self._settings.limits_check_s, self._check_all)

    def _enforce_limits(self, display: ManagedDisplay, marked: dict[int, str]) -> bool:
        folder = str(display.places.folder)
        spared = frozenset(process.pid for process in display.watched_processes)
        pids = {pid for pid, where in marked.items() if where == folder} | spared
        programs = [one for one in _measure_programs(pids) if one.pid not in self._dying]
        verdict = check_limits(programs, spared, self._memory, self._most)
        if not verdict.pids:
            return False
        names = _kill_all(verdict.pids, folder, spared)
        self._dying |= {one.pid: one.start_ticks for one in programs if one.pid in verdict.pids}
        if display.x_server.pid in verdict.pids:
            self.killed[display.x_server.pid] = verdict.reason
        if names:
            self._report_limit(display, f"{verdict.reason}: killed {_join_names(names)}")
        return True

    def _report_limit(self, display: ManagedDisplay, reason: str) -> None:
        _LOG.warning("display.limited", display=display.name, reason=reason)
        display.limit_note = reason
        self._limited(display, reason)


def _find_pids(display: ManagedDisplay) -> set[int]:
    folder = str(display.places.folder)
    return {pid for pid, where in proc_files.find_marked().items() if where == folder}


def _measure_programs(pids: Iterable[int]) -> list[Program]:
    found = ((pid, proc_files.own_memory(pid), proc_files.start_ticks(pid)) for pid in pids)
    return [Program(pid, memory, start) for pid, memory, start in found if start is not None]


def _kill_all(pids: Iterable[int], folder: str, known: frozenset[int]) -> list[str]:
    """Kill these processes; return the names of those that still ran."""
    named = ((pid, proc_files.comm(pid)) for pid in pids)
    return [name for pid, name in named if _kill_process(pid, folder, known)]


def _kill_process(pid: int, folder: str, known: frozenset[int]) -> bool:
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        # Looked at again behind the pidfd: the pid may have changed hands since it was counted.
        if pid not in known and proc_files.marked_folder(pid) != folder:
            return False
        signal.pidfd_send_signal(fd, signal.SIGKILL)
    except ProcessLookupError:
        return False
    finally:
        os.close(fd)
    return True


def _join_names(names: list[str]) -> str:
    counts = {name: names.count(name) for name in names}
    shown = [f"{name} ({count})" if count > 1 else name for name, count in list(counts.items())[:5]]
    return ", ".join(shown) + (", …" if len(counts) > 5 else "")
