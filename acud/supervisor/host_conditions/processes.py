"""Conditions on the end of a process, by its pidfd: told at once, and never of another process with the same number."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Hashable

from acud.process.event_loop import EventLoop
from acud.supervisor.displays.processes import start_ticks
from acud.supervisor.program_launcher import LaunchedProgram
from acud.supervisor.terminal_sessions import OwnTerminals
from acud.supervisor.terminal_sessions.own_terminals import EndedProgram
from acud.types import ProcessExit, Verdict, no, unknown, yes

Told = Callable[[Verdict], None]
_NOT_KNOWN = "its exit code is not known, as this daemon did not start it"
GONE = -1
"""The `start_ticks` of a process that had ended when the wait was armed."""


class ProgramEnds:
    """How programs ended that acud started: those that `launch` did, and those in terminal sessions."""

    def __init__(self, launched: Callable[[int], LaunchedProgram | None], terminals: OwnTerminals) -> None:
        self._launched = launched
        self._terminals = terminals

    def of(self, pid: int) -> tuple[LaunchedProgram | EndedProgram, ...]:
        """Return the newest programs of each kind that had this number and have ended."""
        found = self._launched(pid), self._terminals.ended_program(pid)
        return tuple(one for one in found if one is not None)

    def is_known(self, pid: int) -> bool:
        """Tell whether all is known of the end of `pid` that will be."""
        return self._terminals.is_known(pid)

    def when_known(self, pid: int, step: Callable[[], None]) -> None:
        """Call `step`, later, once it is."""
        self._terminals.when_known(pid, step)


class ProcessConditions:
    """The conditions on processes of this supervisor, by key."""

    def __init__(self, loop: EventLoop, ends: ProgramEnds) -> None:
        self._loop = loop
        self._ends = ends
        self._descriptors: dict[Hashable, int] = {}

    def watch(self, key: Hashable, leaf: ProcessExit, told: Told) -> Verdict:
        """Return the verdict of now, and tell of its end, until `unwatch`."""
        try:
            descriptor = os.pidfd_open(leaf.pid)
        except ProcessLookupError:
            return self._over(leaf, told)
        except OSError as fault:
            return unknown("unreadable", f"the process {leaf.pid} cannot be watched: {fault.strerror}")
        if start_ticks(leaf.pid) != leaf.start_ticks or _has_ended(descriptor):
            os.close(descriptor)
            return self._over(leaf, told)
        self._descriptors[key] = descriptor

        def ended() -> None:
            if self._descriptors.get(key) == descriptor and _has_ended(descriptor):
                self.unwatch(key)
                # In this turn the launcher hears of it as well, and how it ended; tmux tells it a moment later.
                self._ends.when_known(leaf.pid, lambda: told(self._ended(leaf)))

        self._loop.watch(descriptor, ended)
        return no(f"the process {leaf.pid} is running")

    def unwatch(self, key: Hashable) -> None:
        """Watch it no more; harmless for one that is not watched."""
        descriptor = self._descriptors.pop(key, None)
        if descriptor is not None:
            self._loop.unwatch(descriptor)
            os.close(descriptor)

    def close(self) -> None:
        """End every watch."""
        for key in list(self._descriptors):
            self.unwatch(key)

    def _over(self, leaf: ProcessExit, told: Told) -> Verdict:
        if self._ends.is_known(leaf.pid):
            return self._ended(leaf)
        self._ends.when_known(leaf.pid, lambda: told(self._ended(leaf)))
        return unknown("not_judged", f"the process {leaf.pid} has ended, and how is being asked")

    def _ended(self, leaf: ProcessExit) -> Verdict:
        if leaf.start_ticks == GONE:
            return yes(f"no process has the number {leaf.pid}: it had ended before the wait began, or never was")
        mine = (program for program in self._ends.of(leaf.pid) if program.start_ticks == leaf.start_ticks)
        reason = next((program.reason for program in mine), _NOT_KNOWN)
        return yes(f"the process {leaf.pid} has ended: {reason}")


def _has_ended(descriptor: int) -> bool:
    # A descriptor closed and opened anew within one turn can be called for its predecessor's sake.
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
