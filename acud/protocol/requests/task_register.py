"""`task_register`: a task with its plan and a display of its own."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from acud.fleet import Labels
from acud.protocol.requests.spec import RequestSpec
from acud.tasks.nouns import TaskView, Title
from acud.types import Budget


class TaskRegister(Struct, frozen=True, tag="task_register", forbid_unknown_fields=True):
    """Begin a task with its plan, on a managed display of its own unless `isolated_display` is false.

    Whatever then names the task (waits, looks) means that display. Sizes in pixels, 0: as in the settings.
    `budget` is for all its waits together. `labels`: what the host must carry (`[fleet] labels`); a fleet places the
    task on one that does.
    """

    name: Title
    plan: Annotated[tuple[Title, ...], Meta(max_length=500)] = ()
    metadata: dict[str, Any] = {}
    agent_id: Annotated[str, Meta(max_length=200)] = ""
    isolated_display: bool = True
    display_width: Annotated[int, Meta(ge=0, le=16384)] = 0
    display_height: Annotated[int, Meta(ge=0, le=16384)] = 0
    budget: Budget = Budget()
    labels: Labels = {}


class TaskReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The task with its plan. `notes`: what the caller should know now. `answer`: to a `query`, made from the store."""

    view: TaskView
    notes: tuple[str, ...] = ()
    answer: str = ""


SPEC = RequestSpec(TaskRegister, TaskReply, mutating=True, deferred=True)
