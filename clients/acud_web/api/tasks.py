"""/api/tasks: the tasks with their plans, actions and threads."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.errors import NotFound
from acud.protocol.requests.tasks import (
    TaskActions,
    TaskActionsReply,
    TaskDelete,
    TaskDeleteReply,
    TaskList,
    TaskListReply,
    TaskReply,
    TaskThread,
    TaskThreadReply,
    TaskUpdate,
)
from acud.protocol.web import Scope
from acud.types.tasks import (
    ActionView,
    PlanItem,
    Task,
    TaskStatus,
    TaskView,
)
from acud_web.api.operation import (
    ApiRequest,
    Body,
    Nothing,
    Operation,
    Query,
    unseen,
)


class TasksQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Those in any of the statuses given, or all."""

    status: tuple[TaskStatus, ...] = ()
    limit: Annotated[int, Meta(ge=1, le=200)] = 50


class TaskQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the newest actions come with it."""

    actions: Annotated[int, Meta(ge=0, le=1000)] = 200


class ThreadQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the newest messages."""

    limit: Annotated[int, Meta(ge=1, le=1000)] = 200


class StatusBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Pausing stops judging, deadlines run on; an end cancels the task's waits and ends its display."""

    status: TaskStatus


class TaskWhole(Struct, frozen=True):
    """A task with its plan and its newest actions, oldest of them first, of `total_actions`."""

    task: Task
    items: tuple[PlanItem, ...]
    live_waits: int
    actions: tuple[ActionView, ...]
    total_actions: int


async def tasks(asked: ApiRequest[TasksQuery, Nothing]) -> TaskListReply:
    """List tasks that the pass may see, newest first."""
    statuses, seen = asked.query.status or tuple(TaskStatus), asked.pass_
    request = TaskList(statuses, limit=asked.query.limit, tasks=seen.tasks, displays=seen.displays)
    return await asked.ask(request, TaskListReply)


async def task(asked: ApiRequest[TaskQuery, Nothing]) -> TaskWhole:
    """Show a task: its plan, its actions and their logs."""
    view = await task_seen(asked, asked.place("id"))
    request = TaskActions(view.task.task_id, asked.query.actions)
    done = await asked.find(request, TaskActionsReply)
    return TaskWhole(view.task, view.items, view.live_waits, done.actions, done.total)


async def thread(asked: ApiRequest[ThreadQuery, Nothing]) -> TaskThreadReply:
    """Show the newest messages of a task, oldest of them first."""
    view = await task_seen(asked, asked.place("id"))
    return await asked.find(TaskThread(view.task.task_id, asked.query.limit), TaskThreadReply)


async def set_status(asked: ApiRequest[Nothing, StatusBody]) -> TaskReply:
    """Pause, resume or end a task."""
    view = await task_seen(asked, asked.place("id"))
    return await asked.find(TaskUpdate(view.task.task_id, status=(await asked.body()).status), TaskReply)


async def delete(asked: ApiRequest[Nothing, Nothing]) -> TaskDeleteReply:
    """Forget a task with its plan, actions, thread, waits, pictures, runs and recordings; its live waits are cancelled
    and its display ends.
    """
    view = await task_seen(asked, asked.place("id"))
    return await asked.find(TaskDelete(view.task.task_id), TaskDeleteReply)


async def task_seen(asked: ApiRequest[Query, Body], task_id: str) -> TaskView:
    """Return the task with this whole id. Raises: NotFound; Fault 403 where the pass may not see it."""
    found = await asked.ask(TaskList(tuple(TaskStatus), limit=1, tasks=(task_id,)), TaskListReply)
    if found.tasks:
        view = found.tasks[0]
        asked.must_see(display=view.task.display, task_id=view.task.task_id)
        return view
    if not asked.pass_.sees_task(task_id):
        raise unseen()
    raise NotFound(f"no task {task_id[:80]}", hint="GET /api/tasks lists them")


OPERATIONS = (
    Operation("GET", "/api/tasks", Scope.READ, tasks, TaskListReply, TasksQuery),
    Operation("GET", "/api/tasks/{id}", Scope.READ, task, TaskWhole, TaskQuery, statuses=(404,)),
    Operation("GET", "/api/tasks/{id}/messages", Scope.READ, thread, TaskThreadReply, ThreadQuery, statuses=(404,)),
    Operation("POST", "/api/tasks/{id}/status", Scope.ACT, set_status, TaskReply, body=StatusBody, statuses=(404, 409)),
    Operation("DELETE", "/api/tasks/{id}", Scope.ADMIN, delete, TaskDeleteReply, statuses=(404, 409)),
)
