"""Carries out one instruction of a run: the run is the instruction's caller."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from acud.errors import AcudError
from acud.features.agent.supervisor.driver import DoDone, Drop, InstructionStarter
from acud.protocol.requests.gui import DoReply, GuiDo
from acud.supervisor.control import FaultGuard
from acud.supervisor.ports import Instructions

Thing = TypeVar("Thing")


class RunCaller:
    """Tells the run how its instruction ended, once."""

    def __init__(self, faults: FaultGuard, done: DoDone) -> None:
        self._faults = faults
        self._done = done
        self._over = False

    def later(self, step: Callable[[Thing], None]) -> Callable[[Thing], None]:
        """Return `step`; what it raises ends the instruction, nobody else."""

        def guarded(outcome: Thing) -> None:
            if self._over:
                return
            fault = self._faults.contained("gui_agent", lambda: step(outcome))
            if fault is not None:
                self.fail(fault)

        return guarded

    def touch(self) -> None:
        """A run is not repeated: nothing depends on whether it has begun to act."""

    def reply(self, body: DoReply, *, kept: DoReply) -> None:
        """Take the answer; a run stores nothing of it."""
        self._end(body)

    def fail(self, fault: AcudError) -> None:
        """Take the fault."""
        self._end(fault)

    def drop(self, give_up: Callable[[str], None]) -> None:
        """The run has ended: let no further step of its instruction be taken."""
        if not self._over:
            self._over = True
            give_up("the run of the agent ended before this did")

    def _end(self, outcome: DoReply | AcudError) -> None:
        if not self._over:
            self._over = True
            self._done(outcome)


def instruction_starter(instructions: Instructions, faults: FaultGuard) -> InstructionStarter:
    """Return the function that carries out one instruction for a run."""

    def do(request: GuiDo, done: DoDone) -> Drop:
        caller = RunCaller(faults, done)
        give_up = instructions.begin(request, caller)
        return lambda: caller.drop(give_up)

    return do
