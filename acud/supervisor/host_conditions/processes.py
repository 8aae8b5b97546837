"""Conditions on the end of a process, by its pidfd: seen at once, and never of another process with the same pid."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Hashable
from functools import partial

from msgspec.structs import replace

from acud.process.event_loop import EventLoop
from acud.supervisor.coroutines import Resume
from acud.supervisor.displays.proc_files import start_ticks
from acud.supervisor.program_launcher import LaunchedProgram, ProgramLauncher
from acud.supervisor.terminal_sessions import OwnTerminals
from acud.supervisor.terminal_sessions.own_terminals import EndedProgram
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import ProcessExit, Verdict, no, unknown, yes

OnVerdict = Callable[[Verdict], None]
_NOT_KNOWN = "its exit code is not known, as this daemon did not start it"
GONE = -1
"""The `start_ticks` of a process that had ended when the wait was armed."""


class ProgramEnds:
    """How the programs ended that acud started, by `launch` or in terminal sessions."""

    def __init__(self, launcher: ProgramLauncher, terminals: OwnTerminals) -> None:
        self._launcher, self._terminals = launcher, terminals

    def find_ended(self, pid: int) -> tuple[LaunchedProgram | EndedProgram, ...]:
        """Return the newest ended program of each kind that had this pid."""
        found = self._launcher.ended_program(pid), self._terminals.ended_program(pid)
        return tuple(one for one in found if one is not None)

    def is_known(self, pid: int) -> bool:
        """Return whether nothing more will be learned of the end of `pid`."""
        return self._terminals.is_known(pid)

    def when_known(self, pid: int, step: Resume[None]) -> None:
        """Call `step` in a later turn, once `is_known` holds."""
        self._terminals.when_known(pid, step)


class ProcessConditions:
    """The conditions on processes of this supervisor, by key."""

    def __init__(self, loop: EventLoop, ends: ProgramEnds) -> None:
        self._loop, self._ends = loop, ends
        self._descriptors: dict[Hashable, int] = {}

    def pin(self, leaf: ProcessExit) -> ProcessExit:
        """Return the leaf with the start time of the process that has its pid now, or had it last."""
        if leaf.start_ticks:
            return leaf
        ended = next((one.start_ticks for one in self._ends.find_ended(leaf.pid)), GONE)
        return replace(leaf, start_ticks=start_ticks(leaf.pid) or ended or GONE)

    def watch(self, key: Hashable, leaf: ProcessExit, _: WatchedDisplay | None, on_verdict: OnVerdict) -> Verdict:
        """Return the present verdict; `on_verdict` gets the one of its end, until `unwatch`."""
        try:
            descriptor = os.pidfd_open(leaf.pid)
        except ProcessLookupError:
            return self._judge_ended(leaf, on_verdict)
        except OSError as fault:
            return unknown("unreadable", f"the process {leaf.pid} cannot be watched: {fault.strerror}")
        if start_ticks(leaf.pid) != leaf.start_ticks or _has_ended(descriptor):
            os.close(descriptor)
            return self._judge_ended(leaf, on_verdict)
        self._descriptors[key] = descriptor
        self._loop.watch(descriptor, partial(self._on_readable, key, descriptor, leaf, on_verdict))
        return no(f"the process {leaf.pid} is running")

    def _on_readable(self, key: Hashable, descriptor: int, leaf: ProcessExit, on_verdict: OnVerdict) -> None:
        if self._descriptors.get(key) == descriptor and _has_ended(descriptor):
            self.unwatch(key)
            # The launcher learns the exit code in this turn as well; tmux reports it a moment later.
            self._ends.when_known(leaf.pid, lambda _: on_verdict(self._judge_end(leaf)))

    def unwatch(self, key: Hashable) -> None:
        """Stop watching the condition `key`; harmless for an unknown key."""
        descriptor = self._descriptors.pop(key, None)
        if descriptor is not None:
            self._loop.unwatch(descriptor)
            os.close(descriptor)

    def close(self) -> None:
        for key in list(self._descriptors):
            self.unwatch(key)

    def _judge_ended(self, leaf: ProcessExit, on_verdict: OnVerdict) -> Verdict:
        if self._ends.is_known(leaf.pid):
            return self._judge_end(leaf)
        self._ends.when_known(leaf.pid, lambda _: on_verdict(self._judge_end(leaf)))
        return unknown("not_judged", f"the process {leaf.pid} has ended, and how is being asked")

    def _judge_end(self, leaf: ProcessExit) -> Verdict:
        if leaf.start_ticks == GONE:
            return yes(f"no process has the number {leaf.pid}: it had ended before the wait began, or never was")
        mine = (program for program in self._ends.find_ended(leaf.pid) if program.start_ticks == leaf.start_ticks)
        reason = next((program.reason for program in mine), _NOT_KNOWN)
        return yes(f"the process {leaf.pid} has ended: {reason}")


def _has_ended(descriptor: int) -> bool:
    # A descriptor reused within one turn can be called for its predecessor's events.
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
