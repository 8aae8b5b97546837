"""The task memory in the supervisor: started with the core, and what it provides to others."""

from __future__ import annotations

from acud.features.tasks.supervisor import handlers as handlers  # registers them
from acud.features.tasks.supervisor.maintenance import DeletedTaskCleanup, StuckAlarms
from acud.features.tasks.supervisor.service import Tasks
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.observers import Order


class TasksFeature(RunningFeature):
    """Every task, the log of what was done for each, alarms for stuck ones, and the removal of deleted ones."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self._cleanup = DeletedTaskCleanup(core)
        self.tasks = Tasks(core, self._cleanup.soon)
        self._alarms = StuckAlarms(core)
        core.wait_runtime.recorded.add(self.tasks.wait_recorded, Order.FEATURES)
        core.ports.provide(tasks=self.tasks)

    def resume_first(self) -> None:
        """Blind the waits of paused tasks."""
        self.tasks.hold_paused()

    def start(self) -> None:
        """End what a former supervisor did not, and begin to look for stuck tasks."""
        self._cleanup.soon()
        self.tasks.sweep()
        self._alarms.start()

    def at_work(self) -> int:
        """Return how many tasks are active."""
        return self.tasks.active()


start = TasksFeature
