"""The task memory in the supervisor: started with the core; alarms for stuck tasks, and the removal of deleted ones."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from acud.base import log
from acud.base.ids import new_id
from acud.config.fleet import check_host_labels
from acud.features.tasks.rules import SteadyTimes, StuckRule, TaskFacts, current_item, stuck_tasks
from acud.features.tasks.settings import TasksSettings
from acud.features.tasks.summary import PACKET_ACTIONS, PACKET_MESSAGES, TaskTree, build_packet, resume_text, summarise
from acud.features.tasks.supervisor.service import Tasks, check_data
from acud.features.tasks.tables import ActionTable, DeletedTasks, ForgottenRows, TaskTable
from acud.process.event_loop import Timer
from acud.protocol.requests.tasks import (
    TaskActions,
    TaskActionsReply,
    TaskDelete,
    TaskDeleteReply,
    TaskDrillDown,
    TaskDrillDownReply,
    TaskExportTexts,
    TaskExportTextsReply,
    TaskItemUpdate,
    TaskList,
    TaskListReply,
    TaskLogAction,
    TaskLogActionReply,
    TaskPlanAppend,
    TaskRegister,
    TaskReply,
    TaskSummary,
    TaskSummaryReply,
    TaskThread,
    TaskThreadReply,
    TaskUpdate,
)
from acud.store.retention import STEP_ROWS
from acud.store.rows import OwnerFilter
from acud.supervisor.control import Call, handles
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.observers import Order
from acud.types.tasks import Detail, ItemStatus, Message, TaskStatus, TaskView

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
        self.tasks.end_leftovers()
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
            self._core.loop.call_later(self._settings.stuck_check_s, self._check_tasks)

    def _check_tasks(self) -> None:
        self._core.loop.call_later(self._settings.stuck_check_s, self._check_tasks)
        if not self._unwritten:  # a full disk must not pile up checks
            self._unwritten = True
            self._core.journal.keep(self._alarm_all, self._on_written)

    def _on_written(self) -> None:
        self._unwritten = False

    def _alarm_all(self) -> None:
        waiting, now = self._core.waits.count_by_task(), self._core.clock.instant()
        active = self._tasks.all_in(TaskStatus.ACTIVE)
        nows = self._steady.nows(active, now.utc_s, now.boot_s)
        facts = [TaskFacts(task, waiting.get(task.task_id, 0)) for task in active]
        for task_id in stuck_tasks(facts, nows, self._rule):
            self._send_alarm(task_id, now.utc_s, nows[task_id])

    def _send_alarm(self, task_id: str, now: float, steady_s: float) -> None:
        tree = self._find_tree(task_id)
        self._tasks.update(replace(tree.task, stuck_at=now))
        idle_s = round(steady_s - tree.task.updated_at)
        told = Message("system", f"nothing happened for {idle_s} s: the agent is told to go on", "stuck", now)
        self._tasks.add_message(task_id, told)
        self._core.journal.event("task.stuck", task_id, **build_packet(tree, now))
        self._core.wakes.send_stuck(task_id, tree.task.agent_id, resume_text(tree, now))
        _LOG.info("task.stuck", task=task_id)

    def _find_tree(self, task_id: str) -> TaskTree:
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

    def delete_some(self) -> None:
        """Forget one step's rows, and continue: soon if there is more, later if something has not ended."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        forgotten: list[ForgottenRows] = []
        self._core.journal.keep(partial(self._forget_some, forgotten), partial(self._go_on, forgotten))

    def _forget_some(self, forgotten: list[ForgottenRows]) -> None:
        forgotten[:] = [self._deleted.delete_step(self._core.store.events.newest(), STEP_ROWS)]

    def _go_on(self, forgotten: list[ForgottenRows]) -> None:
        found = forgotten[0] if forgotten else ForgottenRows(left=True)
        if found.more or found.left:
            self._timer = self._core.loop.call_later(_MORE_S if found.more else _LEFT_S, self.delete_some)
        self._core.store.evidence.remove_files(found.files)

    def soon(self) -> None:
        """Begin once the end of this turn is written."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._core.loop.call_later(_MORE_S, self.delete_some)


start = TasksFeature


@handles(TaskRegister)
async def task_register(feature: TasksFeature, request: TaskRegister, call: Call) -> TaskReply:
    """Begin a task, once its display is up."""
    check_data("metadata", request.metadata)
    check_host_labels(feature.core.settings.fleet, request.labels)
    task_id, displays = new_id("task"), feature.core.displays
    if not request.isolated_display:
        return TaskReply(feature.tasks.view(feature.tasks.register(request, task_id, None)))
    size = feature.core.settings.display
    width, height = request.display_width or size.width, request.display_height or size.height
    watched = await displays.create(width, height, size.window_manager, task_id, request.labels)
    task = feature.tasks.register(request, task_id, watched)
    return TaskReply(feature.tasks.view(task), displays.list_notes(watched))


_ANSWER_TOKENS = 500


@handles(TaskUpdate)
def task_update(feature: TasksFeature, request: TaskUpdate, call: Call) -> TaskReply:
    """Add a message, answer a query, change the status. An end with open plan items is noted, not refused."""
    view = feature.tasks.view(feature.tasks.update(request))
    return TaskReply(view, tuple(_list_notes(view)), _summarise_task(feature, view) if request.query else "")


def _list_notes(view: TaskView) -> list[str]:
    still = [item.number for item in view.items if item.status in (ItemStatus.PENDING, ItemStatus.ACTIVE)]
    if view.task.status is not TaskStatus.COMPLETED or not still:
        return []
    return [f"completed with open plan items: {', '.join(map(str, still[:20]))}"]


def _summarise_task(feature: TasksFeature, view: TaskView) -> str:
    return summarise(feature.tasks.tree(view.task, Detail.FOCUSED, view.items), Detail.FOCUSED, _ANSWER_TOKENS).text


@handles(TaskItemUpdate)
def task_item_update(feature: TasksFeature, request: TaskItemUpdate, call: Call) -> TaskReply:
    return TaskReply(feature.tasks.view(feature.tasks.update_item(request)))


@handles(TaskPlanAppend)
def task_plan_append(feature: TasksFeature, request: TaskPlanAppend, call: Call) -> TaskReply:
    return TaskReply(feature.tasks.view(feature.tasks.append(request)))


@handles(TaskLogAction)
def task_log_action(feature: TasksFeature, request: TaskLogAction, call: Call) -> TaskLogActionReply:
    task, action = feature.tasks.log_agents_action(request)
    return TaskLogActionReply(task.task_id, action)


@handles(TaskSummary)
def task_summary(feature: TasksFeature, request: TaskSummary, call: Call) -> TaskSummaryReply:
    view, detail = feature.tasks.view(feature.tasks.find(request.task_id)), request.detail_level
    told = summarise(feature.tasks.tree(view.task, detail, view.items), detail, request.max_tokens)
    return TaskSummaryReply(
        task_id=view.task.task_id,
        status=view.task.status,
        summary=told.text,
        tokens=told.tokens,
        left_out=told.left_out,
        view=view if request.as_data else None,
    )


@handles(TaskDrillDown)
def task_drill_down(feature: TasksFeature, request: TaskDrillDown, call: Call) -> TaskDrillDownReply:
    task_id = feature.tasks.find(request.task_id).task_id
    item = feature.tasks.table.item(task_id, request.item)
    return TaskDrillDownReply(task_id, item, feature.tasks.actions.newest_of_item(task_id, item.number, request.limit))


@handles(TaskThread)
def task_thread(feature: TasksFeature, request: TaskThread, call: Call) -> TaskThreadReply:
    task_id, store = feature.tasks.find(request.task_id).task_id, feature.tasks.table
    return TaskThreadReply(task_id, store.messages(task_id, request.limit), store.count_messages(task_id))


@handles(TaskActions)
def task_actions(feature: TasksFeature, request: TaskActions, call: Call) -> TaskActionsReply:
    task_id, actions = feature.tasks.find(request.task_id).task_id, feature.tasks.actions
    return TaskActionsReply(task_id, actions.newest(task_id, request.limit), actions.count(task_id))


@handles(TaskExportTexts)
def task_export_texts(feature: TasksFeature, request: TaskExportTexts, call: Call) -> TaskExportTextsReply:
    """Return texts as an export may hold them."""
    feature.tasks.find(request.task_id)
    settings, redact = feature.core.settings.redaction, feature.core.redaction.redact
    texts = tuple(map(redact, request.texts)) if settings.recordings else request.texts
    return TaskExportTextsReply(settings.recordings, settings.evidence == "redacted", texts)


@handles(TaskList)
def task_list(feature: TasksFeature, request: TaskList, call: Call) -> TaskListReply:
    """Return the tasks asked for, newest first."""
    living = (TaskStatus.ACTIVE, TaskStatus.PAUSED)
    of = OwnerFilter(request.tasks, request.displays)
    statuses = request.statuses or (() if request.ended else living)
    page = feature.tasks.table.newest(statuses, request.limit, of, request.offset)
    return TaskListReply(feature.tasks.views(page.tasks), page.total)


@handles(TaskDelete)
def task_delete(feature: TasksFeature, request: TaskDelete, call: Call) -> TaskDeleteReply:
    return TaskDeleteReply(*feature.tasks.delete(request.task_id))
