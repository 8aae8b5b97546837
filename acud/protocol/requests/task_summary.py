"""`task_summary`: a task in as many tokens as there are."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.tasks.nouns import Detail, TaskId, TaskStatus, TaskView


class TaskSummary(Struct, frozen=True, tag="task_summary", forbid_unknown_fields=True):
    """Tell a task in text of at most `max_tokens` (estimated as UTF-8 bytes / 3): its plan (`items`), with `actions`,
    in `full`, or `focused` on the active item, its logs, the waits and the last messages.
    """

    task_id: TaskId
    detail_level: Detail = Detail.ITEMS
    max_tokens: Annotated[int, Meta(ge=60, le=100_000)] = 1500
    as_data: bool = False
    """The plan as data too, which no budget bounds."""


class TaskSummaryReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`summary` is about `tokens` long. `left_out`: by kind, the lines that did not fit."""

    task_id: str
    status: TaskStatus
    summary: str
    tokens: int
    left_out: dict[str, int] = {}
    view: TaskView | None = None


SPEC = RequestSpec(TaskSummary, TaskSummaryReply)
