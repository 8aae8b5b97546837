"""`task_item_update`: another status of a plan item."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.requests.task_register import TaskReply
from acud.tasks.nouns import Content, ItemStatus, Ordinal, TaskId


class TaskItemUpdate(Struct, frozen=True, tag="task_item_update", forbid_unknown_fields=True):
    """Set the status of the plan item `ordinal`; `note` goes into the thread."""

    task_id: TaskId
    ordinal: Ordinal
    status: ItemStatus
    note: Content = ""


SPEC = RequestSpec(TaskItemUpdate, TaskReply, mutating=True)
