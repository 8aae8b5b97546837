"""`task_log_action`: an action that the agent took."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.tasks.nouns import Action, ActionStatus, ActionType, Ordinal, TaskId


class TaskLogAction(Struct, frozen=True, tag="task_log_action", forbid_unknown_fields=True):
    """Log an action under the plan item `ordinal` (None: the item that is active). `input_data` and `output_data`:
    any JSON.
    """

    task_id: TaskId
    action_type: ActionType
    summary: Annotated[str, Meta(min_length=1, max_length=4000)]
    input_data: Any = None
    output_data: Any = None
    status: ActionStatus = ActionStatus.COMPLETED
    ordinal: Ordinal | None = None
    duration_ms: Annotated[float, Meta(ge=0)] | None = None


class TaskLogActionReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The action as it was kept, with its id and the item it went under."""

    task_id: str
    action: Action


SPEC = RequestSpec(TaskLogAction, TaskLogActionReply, mutating=True)
