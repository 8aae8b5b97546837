"""A task, its plan, actions and messages: the shapes of the wire, of the store's rows and of the rules alike.

Times (`…_at`) are UTC seconds since the epoch. Plan items count from 1, in the order of the plan; a number is never
reused.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta, Struct

from acud.types import Budget

TaskId = Annotated[str, Meta(min_length=1, max_length=64)]
Title = Annotated[str, Meta(min_length=1, max_length=1000)]
ItemNumber = Annotated[int, Meta(ge=1, le=100_000)]
Content = Annotated[str, Meta(max_length=20_000)]


class TaskStatus(StrEnum):
    """The life of a task; the moves are in `acud.features.tasks.rules`."""

    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ItemStatus(StrEnum):
    """The life of a plan item."""

    PENDING = "pending"
    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"


class ActionType(StrEnum):
    """The kind of an action."""

    CLI = "cli"
    GUI = "gui"
    WAIT = "wait"
    VISION = "vision"
    REASONING = "reasoning"
    OTHER = "other"


class ActionStatus(StrEnum):
    """The status of an action: a wait is `started` while it watches."""

    STARTED = "started"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Detail(StrEnum):
    """How much a summary holds: the plan, its actions, everything, or the active item with its neighbourhood."""

    ITEMS = "items"
    ACTIONS = "actions"
    FULL = "full"
    FOCUSED = "focused"


class Task(Struct, frozen=True, forbid_unknown_fields=True):
    """A piece of work of one agent. `display`: its isolated display ("": it uses the default one), with the store's
    number `display_number`. `metadata` is the client's, with `display`, `display_num` and `display_resolution` added.
    """

    task_id: str
    name: str
    status: TaskStatus
    created_at: float
    updated_at: float
    """The last sign of life: of the agent, or of an acud action in its name."""
    agent_id: str = ""
    metadata: dict[str, Any] = {}
    ended_at: float | None = None
    display: str = ""
    display_number: int = 0
    stuck_at: float | None = None
    """When its agent was last reminded to resume it."""
    budget: Budget = Budget()
    """For all its waits together."""


class PlanItem(Struct, frozen=True, forbid_unknown_fields=True):
    """One step of a plan, with the number of its logged actions. `number`: from 1."""

    number: int
    title: str
    status: ItemStatus = ItemStatus.PENDING
    started_at: float | None = None
    completed_at: float | None = None
    duration_seconds: float | None = None
    actions: int = 0
    failed_actions: int = 0


class Action(Struct, frozen=True, forbid_unknown_fields=True):
    """Something done for a task. `item`: the number of its plan item; None: for the whole task. `subject`: the wait's
    id, if it was a wait.

    `judge` and `cost_usd` are of acud's judgements for it; an unknown cost is None, never 0.
    """

    action_id: str
    action_type: ActionType
    summary: str
    created_at: float
    status: ActionStatus = ActionStatus.COMPLETED
    item: int | None = None
    input_data: Any = None
    output_data: Any = None
    duration_ms: float | None = None
    judge: str = ""
    cost_usd: float | None = None
    subject: str = ""


class ActionLog(Struct, frozen=True, forbid_unknown_fields=True):
    """A line under an action."""

    log_type: str
    content: str
    created_at: float


class Message(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of a task's thread. `role`: agent, user or system. `msg_type`: text, plan, status, wait or stuck."""

    role: str
    content: str
    msg_type: str
    created_at: float


class ActionView(Struct, frozen=True, forbid_unknown_fields=True):
    """An action with its logs, oldest first."""

    action: Action
    logs: tuple[ActionLog, ...] = ()


class TaskView(Struct, frozen=True, forbid_unknown_fields=True):
    """The default view of a task: its plan, with counts."""

    task: Task
    items: tuple[PlanItem, ...]
    live_waits: int = 0
    note: str = ""
    """What a client should know now, such as that the task's host is lost."""
