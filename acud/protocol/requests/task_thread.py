"""`task_thread`: a task's messages."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.tasks.nouns import Message, TaskId


class TaskThread(Struct, frozen=True, tag="task_thread", forbid_unknown_fields=True):
    """Show what was said and what happened, the newest `limit` messages."""

    task_id: TaskId
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50


class TaskThreadReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Messages oldest first, of `total`."""

    task_id: str
    messages: tuple[Message, ...]
    total: int


SPEC = RequestSpec(TaskThread, TaskThreadReply)
