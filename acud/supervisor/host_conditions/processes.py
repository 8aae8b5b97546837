"""Conditions on the end of a process, by its pidfd: told at once, and never of another process with the same number."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Hashable

from acud.event_loop import EventLoop
from acud.supervisor.displays.processes import start_ticks
from acud.supervisor.program_launcher import LaunchedProgram
from acud.types import ProcessExit, Verdict, no, unknown, yes

Told = Callable[[Verdict], None]
EndedProgram = Callable[[int], LaunchedProgram | None]
_NOT_KNOWN = "its exit code is not known, as this daemon did not start it"
GONE = -1
"""The `start_ticks` of a process that had ended when the wait was armed."""


class ProcessConditions:
    """The conditions on processes of this supervisor, by key.

    `ended_program` returns the program that `launch` started with a number, when it has ended.
    """

    def __init__(self, loop: EventLoop, ended_program: EndedProgram) -> None:
        self._loop = loop
        self._ended_program = ended_program
        self._descriptors: dict[Hashable, int] = {}

    def watch(self, key: Hashable, leaf: ProcessExit, told: Told) -> Verdict:
        """Return the verdict of now, and tell of its end, until `unwatch`."""
        try:
            descriptor = os.pidfd_open(leaf.pid)
        except ProcessLookupError:
            return self._ended(leaf)
        except OSError as fault:
            return unknown("unreadable", f"the process {leaf.pid} cannot be watched: {fault.strerror}")
        if start_ticks(leaf.pid) != leaf.start_ticks or _has_ended(descriptor):
            os.close(descriptor)
            return self._ended(leaf)
        self._descriptors[key] = descriptor

        def ended() -> None:
            if self._descriptors.get(key) == descriptor and _has_ended(descriptor):
                self.unwatch(key)
                # In this turn the launcher hears of it as well, and how it ended.
                self._loop.call_later(0.0, lambda: told(self._ended(leaf)))

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

    def _ended(self, leaf: ProcessExit) -> Verdict:
        if leaf.start_ticks == GONE:
            return yes(f"no process has the number {leaf.pid}: it had ended before the wait began, or never was")
        program = self._ended_program(leaf.pid)
        known = program is not None and program.start_ticks == leaf.start_ticks
        reason = program.reason if program is not None and known else _NOT_KNOWN
        return yes(f"the process {leaf.pid} has ended: {reason}")


def _has_ended(descriptor: int) -> bool:
    # A descriptor closed and opened anew within one turn can be called for its predecessor's sake.
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
