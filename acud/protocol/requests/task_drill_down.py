"""`task_drill_down`: one plan item with its actions and logs."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.tasks.nouns import ActionView, Ordinal, PlanItem, TaskId


class TaskDrillDown(Struct, frozen=True, tag="task_drill_down", forbid_unknown_fields=True):
    """Show the plan item `ordinal` with its newest actions and their logs."""

    task_id: TaskId
    ordinal: Ordinal
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50


class TaskDrillDownReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`actions` oldest first; `item.actions` says how many there are."""

    task_id: str
    item: PlanItem
    actions: tuple[ActionView, ...]


SPEC = RequestSpec(TaskDrillDown, TaskDrillDownReply)
