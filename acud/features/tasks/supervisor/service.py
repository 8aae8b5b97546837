"""Tasks as requests see them, the effects of their moves, and the log of acud's work for each.

Pausing a task suspends its waits; an end also removes waits and display. The log has waits, looks and blocked calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from acud.base import log
from acud.base.errors import AcudError, Conflict, DisplayDown, InvalidRequest, NotFound
from acud.base.ids import new_id
from acud.features.tasks.rules import has_task_ended, move_action, move_item, move_task
from acud.features.tasks.summary import TaskTree
from acud.features.tasks.tables import ActionTable, DeletedTasks, TaskTable
from acud.protocol.requests.tasks import TaskItemUpdate, TaskLogAction, TaskPlanAppend, TaskRegister, TaskUpdate
from acud.store.waits import StoredWait
from acud.supervisor.core import Core
from acud.supervisor.ports import LogEnd, TaskObservers, TaskPlace
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Budget, DisplayState, WaitState, condition_text
from acud.types.tasks import (
    Action,
    ActionLog,
    ActionStatus,
    ActionType,
    Detail,
    Message,
    PlanItem,
    Task,
    TaskStatus,
    TaskView,
)
from acud.waits.targets import parse_target
from acud.waits.validation import check_budget

_LOG = log.logger("tasks")
_MAX_DATA_BYTES = 65_536
_MOST = 1000
"""Actions, messages and waits read for one summary; more would not fit into any budget."""

_ENDS = {
    WaitState.RESOLVED: ActionStatus.COMPLETED,
    WaitState.TIMEOUT: ActionStatus.FAILED,
    WaitState.FAILED: ActionStatus.FAILED,
    WaitState.CANCELLED: ActionStatus.CANCELLED,
}
"""How the action of a wait ends with it."""


class Tasks:
    """Every task of this supervisor; they live in the store alone. Nothing is logged for a deleted task."""

    def __init__(self, core: Core, on_forgotten: Callable[[], None]) -> None:
        """`on_forgotten` is called after the commit of a deletion, to forget all that belonged to the task."""
        self._core = core
        self.table, self.actions, self._deleted = (
            TaskTable(core.store),
            ActionTable(core.store),
            DeletedTasks(core.store),
        )
        self._on_forgotten = on_forgotten
        self._observers = TaskObservers()

    @property
    def observers(self) -> TaskObservers:
        return self._observers

    def hold_paused(self) -> None:
        """Suspend the waits of paused tasks, before any wait is armed."""
        for task in self.table.all_in(TaskStatus.PAUSED):
            self._core.waits.targets.hide_targets(task.task_id)

    def end_leftovers(self) -> None:
        """End what a former supervisor left: waits and displays of tasks that ended, or were never stored."""
        living = {
            task.task_id for status in (TaskStatus.ACTIVE, TaskStatus.PAUSED) for task in self.table.all_in(status)
        }
        for task_id in self._core.waits.count_by_task().keys() - living:
            self._core.waits.end_task(task_id, "its task had ended")
        for watched, task_id in self._core.displays.find_owned():
            if task_id not in living:
                _LOG.info("task.display_swept", display=watched.name, task=task_id)
                self._core.displays.remove(watched, lambda: None)

    def find(self, task_id: str) -> Task:
        """Return the task with this id or with an id that matches it. Raises: NotFound, InvalidRequest."""
        return self.table.find(task_id)

    def find_live(self, task_id: str) -> Task:
        """Return the task if it has not ended. Raises: NotFound; Conflict with its status."""
        task = self.find(task_id)
        if has_task_ended(task.status):
            raise Conflict(
                f"task {task.task_id} is {task.status}", hint="task_register begins another", status=task.status.value
            )
        return task

    def find_place(self, task_id: str, target: str, display: str) -> TaskPlace:
        """Return the display for a request: the one it names, else its task's, else the default.

        Raises: NotFound for an unknown task, Conflict for an ended one, DisplayDown when its display is gone.
        """
        if not task_id:
            return TaskPlace("", display)
        task = self.find_live(task_id)
        if parse_target(target, display).display or not task.display:
            return TaskPlace(task.task_id, display)
        watched = self._core.watched_displays.find_by_number(task.display_number)
        if watched is None or watched.state is DisplayState.ENDED:
            raise DisplayDown(
                f"the display {task.display} of task {task.task_id} has ended",
                hint="name another display, or register the task anew",
            )
        return TaskPlace(task.task_id, watched.name)

    def state_of(self, task_id: str) -> Literal["live", "ended", "gone"]:
        try:
            task = self.find(task_id)
        except NotFound:
            return "gone"
        return "ended" if has_task_ended(task.status) else "live"

    def active(self) -> int:
        return self.table.newest((TaskStatus.ACTIVE,), 1).total

    def view(self, task: Task) -> TaskView:
        """Return the default view: the plan with counts."""
        return self.views((task,))[0]

    def views(self, tasks: tuple[Task, ...]) -> tuple[TaskView, ...]:
        waits = self._core.waits.count_by_task()
        return tuple(TaskView(task, self.table.items(task.task_id), waits.get(task.task_id, 0)) for task in tasks)

    def tree(self, task: Task, detail: Detail, items: tuple[PlanItem, ...]) -> TaskTree:
        """Return the content of a summary at this level of detail."""
        if detail is Detail.ITEMS:
            return TaskTree(task, items)
        actions = self.actions.newest(task.task_id, _MOST)
        if detail is Detail.ACTIONS:
            return TaskTree(task, items, actions)
        messages = self.table.messages(task.task_id, _MOST)
        return TaskTree(task, items, actions, messages, tuple(self._core.waits.list_of_task(task.task_id, _MOST)))

    # ---- mutating requests: in the savepoint of their call ---------------------------------------------------------

    def register(self, request: TaskRegister, task_id: str, watched: WatchedDisplay | None) -> Task:
        """Store a new task on `watched` (None: the default display)."""
        at, metadata = self._core.utc_s(), dict(request.metadata)
        if watched is not None:
            info = self._core.displays.info(watched)
            metadata |= {
                "display": watched.name,
                "display_num": int(watched.name.lstrip(":").partition(".")[0]),
                "display_resolution": f"{info.width}x{info.height}",
            }
        task = Task(
            task_id,
            request.name,
            TaskStatus.ACTIVE,
            at,
            at,
            request.agent_id,
            metadata,
            budget=check_budget(request.budget),
        )
        if watched is not None:
            task = replace(task, display=watched.name, display_number=watched.number)
        self.table.insert(task)
        self.table.append_items(task_id, request.plan)
        self._core.journal.event(
            "task.registered", task_id, name=task.name, items=len(request.plan), display=task.display
        )
        if watched is not None:
            for begun in self._observers.begun:
                begun(task, watched)
        return task

    def update(self, request: TaskUpdate) -> Task:
        """Add the message and make the move. Raises: IllegalTaskMove, and nothing is changed."""
        if not request.message and not request.query and request.status is None and request.budget is None:
            raise InvalidRequest("the update says nothing", hint="give message, query, status or budget")
        task = self.find(request.task_id)
        if request.message:
            self._add_message(task, "agent", "text", request.message)
        if request.budget is not None:
            task = self._set_budget(task, check_budget(request.budget))
        if request.status is not None:
            return self._change_status(task, request.status)
        return self._set_updated(task) if request.message else task

    def _set_budget(self, task: Task, budget: Budget) -> Task:
        funded = replace(task, budget=budget)
        self.table.update(funded)
        self._core.journal.after_commit(lambda: self._core.wait_runtime.set_budget(task.task_id, budget))
        return funded

    def _change_status(self, task: Task, to: TaskStatus) -> Task:
        moved = move_task(task, to, self._core.utc_s())
        self.table.update(moved)
        if to is task.status:
            return moved
        self._add_message(task, "system", "status", f"{task.status} → {to}")
        topic = "task.ended" if has_task_ended(to) else "task.updated"
        self._core.journal.event(topic, task.task_id, status=to.value, name=task.name)
        self._core.journal.after_commit(lambda: self._on_moved(moved))
        return moved

    def _on_moved(self, task: Task) -> None:
        match task.status:
            case TaskStatus.PAUSED:
                for stopped in self._observers.stopped:
                    stopped(task.task_id, f'task "{task.name}" is paused')
                self._core.waits.targets.hide_targets(task.task_id)
            case TaskStatus.ACTIVE:
                self._core.waits.targets.show_targets(task.task_id)
            case _:
                for ended in self._observers.ended:
                    ended(task)
                self._let_go(task, f'task "{task.name}" is {task.status}')

    def _let_go(self, task: Task, reason: str) -> None:
        for stopped in self._observers.stopped:
            stopped(task.task_id, reason)
        self._core.waits.end_task(task.task_id, reason)
        self._core.waits.targets.show_targets(task.task_id)
        watched = self._core.watched_displays.find_by_number(task.display_number)
        if watched is not None:
            self._core.displays.remove(watched, lambda: None)

    def update_item(self, request: TaskItemUpdate) -> Task:
        """Move a plan item. Raises: NotFound, IllegalTaskMove; Conflict when the task has ended."""
        task = self.find_live(request.task_id)
        before = self.table.item(task.task_id, request.item)
        after = move_item(before, request.status, self._core.utc_s())
        self.table.update_item(task.task_id, after)
        if request.note:
            self._add_message(task, "agent", "plan", f"item {after.number} {after.status}: {request.note}")
        data = {"item": after.number, "status": after.status.value, "title": after.title}
        self._core.journal.event("task.updated", task.task_id, **data)
        return self._set_updated(task)

    def append(self, request: TaskPlanAppend) -> Task:
        """Add plan items. Raises: NotFound; Conflict when the task has ended."""
        task = self.find_live(request.task_id)
        items = self.table.append_items(task.task_id, request.items)
        if request.note:
            self._add_message(task, "agent", "plan", request.note)
        self._core.journal.event("task.updated", task.task_id, appended=len(items), first=items[0].number)
        return self._set_updated(task)

    def log_agents_action(self, request: TaskLogAction) -> tuple[Task, Action]:
        """Keep an action of the agent. Raises: NotFound; InvalidRequest; Conflict when the task has ended."""
        task = self.find_live(request.task_id)
        check_data("input_data", request.input_data)
        check_data("output_data", request.output_data)
        if request.item is not None:
            self.table.item(task.task_id, request.item)
        action = Action(
            action_id=new_id("action"),
            action_type=request.action_type,
            summary=request.summary,
            created_at=self._core.utc_s(),
            status=request.status,
            item=self.table.active_item(task.task_id) if request.item is None else request.item,
            input_data=request.input_data,
            output_data=request.output_data,
            duration_ms=request.duration_ms,
        )
        self.actions.add(task.task_id, action)
        return self._set_updated(task), action

    def delete(self, task_id: str) -> tuple[str, int]:
        """Forget a task; return its id and how many of its waits were watching."""
        task = self.find(task_id)
        self._deleted.record_task(task.task_id)
        for deleted in self._observers.deleted:
            deleted(task.task_id)
        self.table.delete(task.task_id)
        self._core.journal.event("task.deleted", task.task_id)
        self._core.journal.after_commit(lambda: self._release_task(task))
        return task.task_id, self._core.waits.count_by_task().get(task.task_id, 0)

    def _release_task(self, task: Task) -> None:
        self._let_go(task, "its task was deleted")
        self._on_forgotten()

    # ---- the log of a wait: in the transaction that stores its state ------------------------------------------

    def wait_recorded(self, stored: StoredWait) -> None:
        """Log that a wait of a task was armed or has ended."""
        if not stored.spec.task_id or stored.rearmed is not None:  # that task is on the host that was lost
            return
        if stored.state is WaitState.WATCHING:
            self._log_armed(stored)
        else:
            self._log_ended(stored)

    def _log_armed(self, stored: StoredWait) -> None:
        task = self.table.get(stored.spec.task_id)
        action = Action(
            action_id=new_id("action"),
            action_type=ActionType.WAIT,
            summary=f"wait: {stored.spec.label or condition_text(stored.spec.until)}",
            created_at=stored.created.utc_s,
            status=ActionStatus.STARTED,
            item=self.table.active_item(task.task_id),
            input_data={"display": stored.display, "timeout_s": stored.spec.timeout_s},
            subject=stored.wait_id,
        )
        self.actions.add(task.task_id, action)
        self._set_updated(task)

    def _log_ended(self, stored: StoredWait) -> None:
        action = self.actions.of_subject(stored.wait_id)
        if action is None:
            return
        judged = self._core.journal.store.evaluations.newest(stored.wait_id, 1)
        moved = replace(
            move_action(action, _ENDS[stored.state], stored.ended_utc_s),
            output_data={"state": stored.state.value, "judge_calls": stored.judge_calls},
            judge=judged[0].judge if judged else "",
            cost_usd=stored.cost_usd,
        )
        self.actions.update(moved)
        self.actions.add_log(action.action_id, ActionLog("result", stored.message, stored.ended_utc_s))
        task = self.table.get(stored.spec.task_id)
        self.table.add_message(task.task_id, Message("system", stored.message, "wait", stored.ended_utc_s))
        self._set_updated(task)

    def handed_back(self, watched: WatchedDisplay, words: str) -> None:
        """Add a person's hand-back note to the tasks on this display, in the transaction."""
        for status in (TaskStatus.ACTIVE, TaskStatus.PAUSED):
            for task in self.table.all_in(status):
                if task.display_number == watched.number:
                    self._add_message(task, "user", "text", words)

    def log_action(self, task_id: str, action: Action, lines: Iterable[ActionLog] = ()) -> None:
        """Log an action that has ended, under the task's active item; nothing for a task that is gone."""
        try:
            task = self.table.get(task_id)
        except NotFound:
            return
        item = self.table.active_item(task.task_id)
        self.actions.add(task.task_id, replace(action, item=item))
        for line in lines:
            self.actions.add_log(action.action_id, line)
        self._set_updated(task)

    def begin_action(self, task_id: str, kind: ActionType, summary: str) -> LogEnd:
        """Return the function to call with the fault (or None) and the output of an action that begins now."""
        return partial(self._end_action, task_id, kind, summary, self._core.clock.monotonic_s())

    def _end_action(
        self, task_id: str, kind: ActionType, summary: str, began_s: float, fault: AcudError | None, output: Any
    ) -> None:
        if task_id:
            took_ms = round((self._core.clock.monotonic_s() - began_s) * 1000, 1)
            self._core.journal.keep(lambda: self._log_done(task_id, kind, summary, took_ms, fault, output))

    def _log_done(
        self, task_id: str, kind: ActionType, summary: str, took_ms: float, fault: AcudError | None, output: Any
    ) -> None:
        action = Action(
            action_id=new_id("action"),
            action_type=kind,
            summary=summary,
            created_at=self._core.utc_s(),
            status=ActionStatus.COMPLETED if fault is None else ActionStatus.FAILED,
            output_data=output if fault is None else {"error": fault.code, "message": fault.message},
            duration_ms=took_ms,
        )
        self.log_action(task_id, action)

    def _add_message(self, task: Task, role: str, msg_type: str, content: str) -> None:
        self.table.add_message(task.task_id, Message(role, content, msg_type, self._core.utc_s()))

    def _set_updated(self, task: Task) -> Task:
        if has_task_ended(task.status):
            return task
        touched = replace(task, updated_at=self._core.utc_s())
        self.table.update(touched)
        return touched


def check_data(name: str, data: object) -> None:
    """Raises: InvalidRequest when `data` is not JSON, or too large."""
    try:
        size = len(msgspec.json.encode(data))
    except (TypeError, ValueError) as fault:
        raise InvalidRequest(f"{name} is not JSON: {fault}") from fault
    if size > _MAX_DATA_BYTES:
        raise InvalidRequest(
            f"{name} has {size} bytes of JSON, the limit is {_MAX_DATA_BYTES}", hint="keep it in a file"
        )
