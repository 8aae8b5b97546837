"""`task_update`: a message, a question, another status."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.requests.task_register import TaskReply
from acud.tasks.nouns import Content, TaskId, TaskStatus
from acud.types import Budget


class TaskUpdate(Struct, frozen=True, tag="task_update", forbid_unknown_fields=True):
    """Add `message` to the thread, ask where the task stands (`query`; answered from the store, by no model), and set
    its `status`. Pausing stops judging, deadlines run on; an end cancels the task's waits and ends its display.

    `task_id`: a unique beginning is enough. At least one of these must be given. A `budget` replaces the one
    before as a whole; what its waits have spent stays spent.
    """

    task_id: TaskId
    message: Content = ""
    query: Content = ""
    status: TaskStatus | None = None
    budget: Budget | None = None


SPEC = RequestSpec(TaskUpdate, TaskReply, mutating=True)
