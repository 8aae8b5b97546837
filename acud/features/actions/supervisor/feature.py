"""Actions in the supervisor: started with the core, and what they provide to others."""

from __future__ import annotations

from collections.abc import Callable

from acud.features.actions.supervisor import handlers as handlers  # registers them
from acud.features.actions.supervisor.action_sequence import ActionPorts
from acud.features.actions.supervisor.instruction import RunningInstruction
from acud.protocol.requests.gui import GuiDo
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.ports import InstructionCaller


class ActionsFeature(RunningFeature):
    """Input to displays, in exact steps and in words."""

    def __init__(self, core: Core) -> None:
        self.clock = core.clock
        self.displays = core.displays
        self.fresh_frames = core.fresh_frames
        self.screenshots = core.screenshots
        self.takeovers = core.takeovers
        self.waits = core.waits
        self.window_list_ready = core.window_list_ready
        self.tasks = core.ports.tasks
        self.elements = core.ports.elements
        self.finder = core.ports.finder
        self.action_ports = ActionPorts(
            core.loop,
            core.sources,
            core.input_dispatcher,
            core.takeovers,
            core.program_launcher,
            core.waits,
            self.elements,
            core.window_list_ready,
        )
        core.ports.provide(instructions=self)

    def check(self) -> None:
        """Instructions are carried out."""

    def begin(self, request: GuiDo, caller: InstructionCaller) -> Callable[[str], None]:
        """Begin an instruction; see `acud.supervisor.ports.Instructions`."""
        instruction = RunningInstruction(self, request, caller)
        instruction.begin()
        return instruction.drop


def start(core: Core) -> ActionsFeature:
    """Start the feature."""
    return ActionsFeature(core)
