"""`task_plan_append`: more plan items."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.requests.task_register import TaskReply
from acud.tasks.nouns import Content, TaskId, Title


class TaskPlanAppend(Struct, frozen=True, tag="task_plan_append", forbid_unknown_fields=True):
    """Add `items` at the end of the plan; `note` says why, in the thread."""

    task_id: TaskId
    items: Annotated[tuple[Title, ...], Meta(min_length=1, max_length=500)]
    note: Content = ""


SPEC = RequestSpec(TaskPlanAppend, TaskReply, mutating=True)
