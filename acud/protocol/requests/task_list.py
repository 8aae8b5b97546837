"""`task_list`: the tasks."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.tasks.nouns import TaskId, TaskStatus, TaskView


class TaskList(Struct, frozen=True, tag="task_list", forbid_unknown_fields=True):
    """List tasks, newest first: the active and paused ones, or those in `statuses`, or all with `ended`; `tasks` (whole
    ids) and those on `displays` alone, where some are named.
    """

    statuses: tuple[TaskStatus, ...] = ()
    ended: bool = False
    limit: Annotated[int, Meta(ge=1, le=200)] = 20
    tasks: Annotated[tuple[TaskId, ...], Meta(max_length=256)] = ()
    displays: Annotated[tuple[str, ...], Meta(max_length=256)] = ()


class TaskListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`total`: how many there are before the limit."""

    tasks: tuple[TaskView, ...]
    total: int


SPEC = RequestSpec(TaskList, TaskListReply)
