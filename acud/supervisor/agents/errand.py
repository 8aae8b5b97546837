"""What a run of the agent does, as an errand whose asker is the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from acud.errors import AcudError
from acud.protocol.requests.gui import DoReply, GuiDo
from acud.supervisor.agents.driver import DoDone, Doer, Drop
from acud.supervisor.app import App
from acud.supervisor.instruction import RunningInstruction

Thing = TypeVar("Thing")


class RunAsker:
    """Tells the run how its errand ended, once."""

    def __init__(self, app: App, done: DoDone) -> None:
        self._app = app
        self._done = done
        self._over = False

    def later(self, step: Callable[[Thing], None]) -> Callable[[Thing], None]:
        """Return `step`; what it raises ends the errand, nobody else."""

        def guarded(outcome: Thing) -> None:
            if self._over:
                return
            fault = self._app.control.contained("gui_agent", lambda: step(outcome))
            if fault is not None:
                self.fail(fault)

        return guarded

    def touch(self) -> None:
        """A run is not repeated: nothing depends on whether it has begun to act."""

    def answer(self, reply: DoReply) -> None:
        """Take the answer."""
        self._end(reply)

    def fail(self, fault: AcudError) -> None:
        """Take the fault."""
        self._end(fault)

    def drop(self, errand: RunningInstruction) -> None:
        """The run has ended: let no further step of its errand be taken."""
        if not self._over:
            self._over = True
            errand.drop("the run of the agent ended before this did")

    def _end(self, outcome: DoReply | AcudError) -> None:
        if not self._over:
            self._over = True
            self._done(outcome)


def doer(app: App) -> Doer:
    """Return what does one thing in words for a run."""

    def do(request: GuiDo, done: DoDone) -> Drop:
        asker = RunAsker(app, done)
        errand = RunningInstruction(app, request, asker)
        errand.begin()
        return lambda: asker.drop(errand)

    return do
