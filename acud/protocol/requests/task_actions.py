"""`task_actions`: what was done for a task."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.tasks.nouns import ActionView, TaskId


class TaskActions(Struct, frozen=True, tag="task_actions", forbid_unknown_fields=True):
    """Show the newest actions of a task with their logs, under whichever plan item they are."""

    task_id: TaskId
    limit: Annotated[int, Meta(ge=0, le=1000)] = 50


class TaskActionsReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Actions oldest first, of `total`."""

    task_id: str
    actions: tuple[ActionView, ...]
    total: int


SPEC = RequestSpec(TaskActions, TaskActionsReply)
