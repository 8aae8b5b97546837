"""`task_delete`: forget a task."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec
from acud.tasks.nouns import TaskId


class TaskDelete(Struct, frozen=True, tag="task_delete", forbid_unknown_fields=True):
    """Forget a task with its plan, actions, thread, waits, evaluations, pictures, runs, wakes and recordings, and what
    events told of them; its live waits are cancelled and its display ends.

    That is done within moments; a wait that a wake which was not delivered yet tells of goes once it was.
    """

    task_id: TaskId


class TaskDeleteReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`waits_cancelled`: how many of its waits were watching."""

    task_id: str
    waits_cancelled: int


SPEC = RequestSpec(TaskDelete, TaskDeleteReply, mutating=True)
