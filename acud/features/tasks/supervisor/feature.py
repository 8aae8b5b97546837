"""The task memory in the supervisor: started with the core; alarms for stuck tasks, and the removal of deleted ones."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from acud.base import log
from acud.features.tasks.rules import SteadyTimes, StuckRule, TaskFacts, current_item, stuck_tasks
from acud.features.tasks.settings import TasksSettings
from acud.features.tasks.summary import PACKET_ACTIONS, PACKET_MESSAGES, TaskTree, resume_packet, resume_text
from acud.features.tasks.supervisor import handlers as handlers  # registers them
from acud.features.tasks.supervisor.service import Tasks
from acud.features.tasks.tables import ActionTable, DeletedTasks, ForgottenRows, TaskTable
from acud.process.event_loop import Timer
from acud.store.retention import STEP_ROWS
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.observers import Order
from acud.types.tasks import Message, TaskStatus

_LOG = log.logger("tasks")
_WAITS = 10
_MORE_S = 0.05
_LEFT_S = 30.0
"""Wakes are delivered and runs end in their own time."""


class TasksFeature(RunningFeature):
    """Every task, the log of its actions, alarms for stuck ones, and the removal of deleted ones."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self._cleanup = DeletedTaskCleanup(core)
        self.tasks = Tasks(core, self._cleanup.soon)
        self._alarms = StuckAlarms(core)
        core.wait_runtime.recorded.add(self.tasks.wait_recorded, Order.FEATURES)
        core.takeovers.handed_back.add(self.tasks.handed_back, Order.FEATURES)
        core.ports.provide(tasks=self.tasks)

    def resume_first(self) -> None:
        """Suspend the waits of paused tasks."""
        self.tasks.hold_paused()

    def start(self) -> None:
        """End what a former supervisor left, and begin to look for stuck tasks."""
        self._cleanup.soon()
        self.tasks.sweep()
        self._alarms.start()

    def at_work(self) -> int:
        return self.tasks.active()


class StuckAlarms:
    """Checks the active tasks every `stuck_check_s`. The time of an alarm is stored with it, so that a restart does not
    repeat it.

    The wake of an alarm is stored in its transaction: both are kept, or neither.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._settings = core.settings.of(TasksSettings)
        self._tasks, self._actions = TaskTable(core.store), ActionTable(core.store)
        self._steady = SteadyTimes()
        self._rule = StuckRule(self._settings.stuck_after_s, self._settings.stuck_cooldown_s)
        self._unwritten = False

    def start(self) -> None:
        """Begin to check, unless switched off."""
        if self._settings.stuck_detection:
            self._core.loop.call_later(self._settings.stuck_check_s, self._check)

    def _check(self) -> None:
        self._core.loop.call_later(self._settings.stuck_check_s, self._check)
        if not self._unwritten:  # a full disk must not pile up checks
            self._unwritten = True
            self._core.journal.keep(self._alarm_all, self._on_written)

    def _on_written(self) -> None:
        self._unwritten = False

    def _alarm_all(self) -> None:
        waiting, now = self._core.waits.count_by_task(), self._core.clock.instant()
        active = self._tasks.all_in(TaskStatus.ACTIVE)
        nows = self._steady.nows(active, now.utc_s, now.boot_s)
        for task_id in stuck_tasks(
            [TaskFacts(task, waiting.get(task.task_id, 0)) for task in active], nows, self._rule
        ):
            self._alarm(task_id, now.utc_s, nows[task_id])

    def _alarm(self, task_id: str, now: float, steady_s: float) -> None:
        tree = self._tree(task_id)
        self._tasks.update(replace(tree.task, stuck_at=now))
        idle_s = round(steady_s - tree.task.updated_at)
        told = Message("system", f"nothing happened for {idle_s} s: the agent is told to go on", "stuck", now)
        self._tasks.add_message(task_id, told)
        self._core.journal.event("task.stuck", task_id, **resume_packet(tree, now))
        self._core.wakes.send_stuck(task_id, tree.task.agent_id, resume_text(tree, now))
        _LOG.info("task.stuck", task=task_id)

    def _tree(self, task_id: str) -> TaskTree:
        items = self._tasks.items(task_id)
        active = current_item(items)
        actions = self._actions.newest_of_item(task_id, active.number, PACKET_ACTIONS) if active is not None else ()
        waits = tuple(self._core.waits.list_of_task(task_id, _WAITS))
        return TaskTree(self._tasks.get(task_id), items, actions, self._tasks.messages(task_id, PACKET_MESSAGES), waits)


class DeletedTaskCleanup:
    """Removes deleted tasks in steps: at the start of the supervisor, and after each deletion."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._deleted = DeletedTasks(core.store)
        self._timer: Timer | None = None

    def run(self) -> None:
        """Forget one step's rows, and continue: soon if there is more, later if something has not ended."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        forgotten: list[ForgottenRows] = []
        self._core.journal.keep(partial(self._forget_some, forgotten), partial(self._go_on, forgotten))

    def _forget_some(self, forgotten: list[ForgottenRows]) -> None:
        forgotten[:] = [self._deleted.step(self._core.store.events.newest(), STEP_ROWS)]

    def _go_on(self, forgotten: list[ForgottenRows]) -> None:
        found = forgotten[0] if forgotten else ForgottenRows(left=True)
        if found.more or found.left:
            self._timer = self._core.loop.call_later(_MORE_S if found.more else _LEFT_S, self.run)
        self._core.store.evidence.remove_files(found.files)

    def soon(self) -> None:
        """Begin once the end of this turn is written."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._core.loop.call_later(_MORE_S, self.run)


start = TasksFeature
