"""The agent in the supervisor: started with the core, after the features whose ports it asks."""

from __future__ import annotations

from acud.features.agent.supervisor import handlers as handlers  # registers them
from acud.features.agent.supervisor.driver import Tools
from acud.features.agent.supervisor.run_caller import instruction_starter
from acud.features.agent.supervisor.service import Agents
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.observers import Order


class AgentFeature(RunningFeature):
    """Runs of the agent."""

    def __init__(self, core: Core) -> None:
        self.settings = core.settings
        self.fresh_frames = core.fresh_frames
        self.takeovers = core.takeovers
        self.wakes = core.wakes
        self.tasks = core.ports.tasks
        self.instructions = core.ports.instructions
        tools = Tools(
            core.loop,
            core.clock.monotonic_s,
            core.settings,
            core.fresh_frames,
            core.pool,
            core.waits,
            core.redaction,
            core.usage_log,
            instruction_starter(self.instructions, core.faults),
        )
        self.agents = Agents(tools, core.journal, core.utc_s, self.tasks, core.wakes)
        core.takeovers.taken.add(self.agents.taken, Order.FEATURES)
        self.tasks.observers.stopped.add(self.agents.end_task, Order.FEATURES)

    def start(self) -> None:
        """End what a former supervisor was doing."""
        self.agents.resume()

    def at_work(self) -> int:
        """Return how many runs go on."""
        return self.agents.running()


def start(core: Core) -> AgentFeature:
    """Start the feature."""
    return AgentFeature(core)
