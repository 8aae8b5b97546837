"""Actions in the supervisor: started with the core, and what they provide to others."""

from __future__ import annotations

from collections.abc import Callable

from acud.features.actions.supervisor import handlers as handlers  # registers them
from acud.features.actions.supervisor import terminals as terminals
from acud.features.actions.supervisor.display_steps import DisplaySteps
from acud.features.actions.supervisor.instruction import begin_instruction
from acud.protocol.requests.gui import GuiDo
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.ports import InstructionCaller


class ActionsFeature(DisplaySteps, RunningFeature):
    """Input to displays, in exact steps and in words."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        core.ports.provide(instructions=self)

    def check(self) -> None:
        """Instructions are carried out."""

    def begin(self, request: GuiDo, caller: InstructionCaller) -> Callable[[str], None]:
        """Begin an instruction; see `acud.supervisor.ports.Instructions`."""
        return begin_instruction(self, request, caller)


start = ActionsFeature
