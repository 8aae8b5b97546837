"""The requests about tasks and what they cost as methods, sync and async: a part of each client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from acud.fleet import Labels
from acud.protocol.requests.daemon import Usage, UsageReply
from acud.protocol.requests.tasks import (
    TaskActions,
    TaskActionsReply,
    TaskDelete,
    TaskDeleteReply,
    TaskDrillDown,
    TaskDrillDownReply,
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
from acud.types import Budget
from acud.types.tasks import (
    ActionStatus,
    ActionType,
    Detail,
    ItemStatus,
    TaskStatus,
)

Reply = TypeVar("Reply", bound=msgspec.Struct)


class TaskCalls(ABC):
    """The task requests of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    def task_register(
        self,
        name: str,
        plan: Sequence[str] = (),
        *,
        metadata: Mapping[str, Any] | None = None,
        agent_id: str = "",
        isolated_display: bool = True,
        display_width: int = 0,
        display_height: int = 0,
        budget: Budget = Budget(),  # noqa: B008 - frozen
        labels: Labels | None = None,
    ) -> TaskReply:
        """Begin a task with its plan, on a managed display of its own unless `isolated_display` is false; sizes in
        pixels, 0: as in the settings. `budget`: for all its waits together. `labels`: what its host must carry."""
        size, asked = (display_width, display_height), dict(labels or {})
        known = dict(metadata or {})
        request = TaskRegister(name, tuple(plan), known, agent_id, isolated_display, *size, budget, asked)
        return self.ask(request, TaskReply)

    def task_update(
        self,
        task_id: str,
        *,
        message: str = "",
        query: str = "",
        status: TaskStatus | None = None,
        budget: Budget | None = None,
    ) -> TaskReply:
        """Add a message, ask where the task stands, set status and budget. Raises: Conflict for an impossible move."""
        return self.ask(TaskUpdate(task_id, message, query, status, budget), TaskReply)

    def task_item_update(self, task_id: str, ordinal: int, status: ItemStatus, *, note: str = "") -> TaskReply:
        """Set the status of a plan item. Raises: Conflict for a move it cannot make."""
        return self.ask(TaskItemUpdate(task_id, ordinal, status, note), TaskReply)

    def task_plan_append(self, task_id: str, items: Sequence[str], *, note: str = "") -> TaskReply:
        """Add plan items at the end."""
        return self.ask(TaskPlanAppend(task_id, tuple(items), note), TaskReply)

    def task_log_action(
        self,
        task_id: str,
        action_type: ActionType,
        summary: str,
        *,
        input_data: Any = None,
        output_data: Any = None,
        status: ActionStatus = ActionStatus.COMPLETED,
        ordinal: int | None = None,
        duration_ms: float | None = None,
    ) -> TaskLogActionReply:
        """Log an action under the plan item `ordinal` (None: the active one)."""
        data = (input_data, output_data)
        request = TaskLogAction(task_id, action_type, summary, *data, status, ordinal, duration_ms)
        return self.ask(request, TaskLogActionReply)

    def task_summary(
        self, task_id: str, *, detail_level: Detail = Detail.ITEMS, max_tokens: int = 1500, as_data: bool = False
    ) -> TaskSummaryReply:
        """Return the task in text of at most `max_tokens` (estimated), telling what was left out; `as_data`: the plan
        too as a `view`, which no budget bounds."""
        return self.ask(TaskSummary(task_id, detail_level, max_tokens, as_data), TaskSummaryReply)

    def task_drill_down(self, task_id: str, ordinal: int, *, limit: int = 50) -> TaskDrillDownReply:
        """Return one plan item with its newest actions and their logs."""
        return self.ask(TaskDrillDown(task_id, ordinal, limit), TaskDrillDownReply)

    def task_actions(self, task_id: str, *, limit: int = 50) -> TaskActionsReply:
        """Return the newest actions of a task with their logs, oldest of them first."""
        return self.ask(TaskActions(task_id, limit), TaskActionsReply)

    def task_thread(self, task_id: str, *, limit: int = 50) -> TaskThreadReply:
        """Return the newest messages, oldest of them first."""
        return self.ask(TaskThread(task_id, limit), TaskThreadReply)

    def task_list(
        self,
        *,
        statuses: Sequence[TaskStatus] = (),
        ended: bool = False,
        limit: int = 20,
        tasks: Sequence[str] = (),
        displays: Sequence[str] = (),
    ) -> TaskListReply:
        """Return tasks, newest first: the active and paused ones, or those in `statuses`, or all with `ended`; `tasks`
        (whole ids) and those on `displays` alone, where some are named."""
        return self.ask(TaskList(tuple(statuses), ended, limit, tuple(tasks), tuple(displays)), TaskListReply)

    def task_delete(self, task_id: str) -> TaskDeleteReply:
        """Forget a task and all that belonged to it; its live waits are cancelled and its display ends."""
        return self.ask(TaskDelete(task_id), TaskDeleteReply)

    def usage(self, *, days: int = 7, task_id: str = "") -> UsageReply:
        """Add up the kept evaluations of the last `days` by day, judge and task."""
        return self.ask(Usage(days, task_id), UsageReply)


class AsyncTaskCalls(ABC):
    """The same, awaited."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    async def task_register(
        self,
        name: str,
        plan: Sequence[str] = (),
        *,
        metadata: Mapping[str, Any] | None = None,
        agent_id: str = "",
        isolated_display: bool = True,
        display_width: int = 0,
        display_height: int = 0,
        budget: Budget = Budget(),  # noqa: B008 - frozen
        labels: Labels | None = None,
    ) -> TaskReply:
        """Begin a task with its plan, on a managed display of its own unless `isolated_display` is false; sizes in
        pixels, 0: as in the settings. `budget`: for all its waits together. `labels`: what its host must carry."""
        size, asked = (display_width, display_height), dict(labels or {})
        known = dict(metadata or {})
        request = TaskRegister(name, tuple(plan), known, agent_id, isolated_display, *size, budget, asked)
        return await self.ask(request, TaskReply)

    async def task_update(
        self,
        task_id: str,
        *,
        message: str = "",
        query: str = "",
        status: TaskStatus | None = None,
        budget: Budget | None = None,
    ) -> TaskReply:
        """Add a message, ask where the task stands, set status and budget. Raises: Conflict for an impossible move."""
        return await self.ask(TaskUpdate(task_id, message, query, status, budget), TaskReply)

    async def task_item_update(self, task_id: str, ordinal: int, status: ItemStatus, *, note: str = "") -> TaskReply:
        """Set the status of a plan item. Raises: Conflict for a move it cannot make."""
        return await self.ask(TaskItemUpdate(task_id, ordinal, status, note), TaskReply)

    async def task_plan_append(self, task_id: str, items: Sequence[str], *, note: str = "") -> TaskReply:
        """Add plan items at the end."""
        return await self.ask(TaskPlanAppend(task_id, tuple(items), note), TaskReply)

    async def task_log_action(
        self,
        task_id: str,
        action_type: ActionType,
        summary: str,
        *,
        input_data: Any = None,
        output_data: Any = None,
        status: ActionStatus = ActionStatus.COMPLETED,
        ordinal: int | None = None,
        duration_ms: float | None = None,
    ) -> TaskLogActionReply:
        """Log an action under the plan item `ordinal` (None: the active one)."""
        data = (input_data, output_data)
        request = TaskLogAction(task_id, action_type, summary, *data, status, ordinal, duration_ms)
        return await self.ask(request, TaskLogActionReply)

    async def task_summary(
        self, task_id: str, *, detail_level: Detail = Detail.ITEMS, max_tokens: int = 1500, as_data: bool = False
    ) -> TaskSummaryReply:
        """Return the task in text of at most `max_tokens` (estimated), telling what was left out; `as_data`: the plan
        too as a `view`, which no budget bounds."""
        return await self.ask(TaskSummary(task_id, detail_level, max_tokens, as_data), TaskSummaryReply)

    async def task_drill_down(self, task_id: str, ordinal: int, *, limit: int = 50) -> TaskDrillDownReply:
        """Return one plan item with its newest actions and their logs."""
        return await self.ask(TaskDrillDown(task_id, ordinal, limit), TaskDrillDownReply)

    async def task_actions(self, task_id: str, *, limit: int = 50) -> TaskActionsReply:
        """Return the newest actions of a task with their logs, oldest of them first."""
        return await self.ask(TaskActions(task_id, limit), TaskActionsReply)

    async def task_thread(self, task_id: str, *, limit: int = 50) -> TaskThreadReply:
        """Return the newest messages, oldest of them first."""
        return await self.ask(TaskThread(task_id, limit), TaskThreadReply)

    async def task_list(
        self,
        *,
        statuses: Sequence[TaskStatus] = (),
        ended: bool = False,
        limit: int = 20,
        tasks: Sequence[str] = (),
        displays: Sequence[str] = (),
    ) -> TaskListReply:
        """Return tasks, newest first: the active and paused ones, or those in `statuses`, or all with `ended`; `tasks`
        (whole ids) and those on `displays` alone, where some are named."""
        return await self.ask(TaskList(tuple(statuses), ended, limit, tuple(tasks), tuple(displays)), TaskListReply)

    async def task_delete(self, task_id: str) -> TaskDeleteReply:
        """Forget a task and all that belonged to it; its live waits are cancelled and its display ends."""
        return await self.ask(TaskDelete(task_id), TaskDeleteReply)

    async def usage(self, *, days: int = 7, task_id: str = "") -> UsageReply:
        """Add up the kept evaluations of the last `days` by day, judge and task."""
        return await self.ask(Usage(days, task_id), UsageReply)
