"""The task memory."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from acud.protocol.requests.command import DISPLAY_S, Command, FleetRoute, McpTool, RestOperation
from acud.protocol.web import Scope
from acud.types import Budget, Labels
from acud.types.displays import MAX_NUMBER
from acud.types.tasks import (
    Action,
    ActionStatus,
    ActionType,
    ActionView,
    Content,
    Detail,
    ItemNumber,
    ItemStatus,
    Message,
    PlanItem,
    TaskId,
    TaskStatus,
    TaskView,
    Title,
)


class TaskRegister(Struct, frozen=True, tag="task_register", forbid_unknown_fields=True):
    """Begin a task with its plan, on a managed display of its own unless `isolated_display` is false.

    Requests that name the task (waits, looks) then use that display. Sizes in pixels, 0: as in the settings.
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


class TaskUpdate(Struct, frozen=True, tag="task_update", forbid_unknown_fields=True):
    """Add `message` to the thread, ask where the task stands (`query`; answered from the store, by no model), and set
    its `status`. Pausing stops judging, deadlines run on; an end cancels the task's waits and ends its display.

    `task_id`: a unique beginning or ending is enough. At least one of these must be given. A `budget` replaces the one
    before as a whole; what its waits have spent stays spent.
    """

    task_id: TaskId
    message: Content = ""
    query: Content = ""
    status: TaskStatus | None = None
    budget: Budget | None = None


class TaskItemUpdate(Struct, frozen=True, tag="task_item_update", forbid_unknown_fields=True):
    """Set the status of the plan item `item`, which counts from 1; `note` goes into the thread."""

    task_id: TaskId
    item: ItemNumber
    status: ItemStatus
    note: Content = ""


class TaskPlanAppend(Struct, frozen=True, tag="task_plan_append", forbid_unknown_fields=True):
    """Add `items` at the end of the plan; `note` (the reason) goes into the thread."""

    task_id: TaskId
    items: Annotated[tuple[Title, ...], Meta(min_length=1, max_length=500)]
    note: Content = ""


class TaskLogAction(Struct, frozen=True, tag="task_log_action", forbid_unknown_fields=True):
    """Log an action under the plan item `item`, from 1 (None: the item that is active). `input_data` and
    `output_data`: any JSON.
    """

    task_id: TaskId
    action_type: ActionType
    summary: Annotated[str, Meta(min_length=1, max_length=4000)]
    input_data: Any = None
    output_data: Any = None
    status: ActionStatus = ActionStatus.COMPLETED
    item: ItemNumber | None = None
    duration_ms: Annotated[float, Meta(ge=0)] | None = None


class TaskLogActionReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The action as it was kept, with its id and the item it went under."""

    task_id: str
    action: Action


class TaskSummary(Struct, frozen=True, tag="task_summary", forbid_unknown_fields=True):
    """Return a task as text of at most `max_tokens` (estimated as UTF-8 bytes / 3): its plan (`items`), with `actions`,
    in `full`, or `focused` on the active item, its logs, the waits and the last messages; the reply counts what was
    left out. With `as_data` the plan comes as a `view` too, which no budget bounds.
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


class TaskDrillDown(Struct, frozen=True, tag="task_drill_down", forbid_unknown_fields=True):
    """Show the plan item `item`, from 1, with its newest actions and their logs."""

    task_id: TaskId
    item: ItemNumber
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50


class TaskDrillDownReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`actions` oldest first; `item.actions` counts them all."""

    task_id: str
    item: PlanItem
    actions: tuple[ActionView, ...]


class TaskExportTexts(Struct, frozen=True, tag="task_export_texts", forbid_unknown_fields=True):
    """Return a task's texts as they may stand in an export of it; without `texts`, only what is hidden from exports."""

    task_id: TaskId
    texts: Annotated[tuple[str, ...], Meta(max_length=1000)] = ()


class TaskExportTextsReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The texts, without what rules hide if `redacted` (`[redaction] recordings`); `pictures`: evidence as well."""

    redacted: bool
    pictures: bool
    texts: tuple[str, ...]


class TaskThread(Struct, frozen=True, tag="task_thread", forbid_unknown_fields=True):
    """Return messages and events of a task: the newest `limit` of its thread, oldest first."""

    task_id: TaskId
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50


class TaskThreadReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Messages oldest first, of `total`."""

    task_id: str
    messages: tuple[Message, ...]
    total: int


class TaskActions(Struct, frozen=True, tag="task_actions", forbid_unknown_fields=True):
    """Return the newest actions of a task with their logs, oldest first, under whichever plan item they are."""

    task_id: TaskId
    limit: Annotated[int, Meta(ge=0, le=1000)] = 50


class TaskActionsReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Actions oldest first, of `total`."""

    task_id: str
    actions: tuple[ActionView, ...]
    total: int


class TaskList(Struct, frozen=True, tag="task_list", forbid_unknown_fields=True):
    """List tasks, newest first: the active and paused ones, or those in `statuses`, or all with `ended`; where
    `tasks` (whole ids) or `displays` are named, those of any of these alone. From the `offset`th on.
    """

    statuses: tuple[TaskStatus, ...] = ()
    ended: bool = False
    limit: Annotated[int, Meta(ge=1, le=200)] = 20
    tasks: Annotated[tuple[TaskId, ...], Meta(max_length=256)] = ()
    displays: Annotated[tuple[str, ...], Meta(max_length=256)] = ()
    offset: Annotated[int, Meta(ge=0, le=MAX_NUMBER)] = 0


class TaskListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`total`: the number of matching tasks before offset and limit."""

    tasks: tuple[TaskView, ...]
    total: int


class TaskDelete(Struct, frozen=True, tag="task_delete", forbid_unknown_fields=True):
    """Forget a task with its plan, actions, thread, waits, evaluations, pictures, runs, wakes and recordings, and the
    text of events about them; its live waits are cancelled and its display ends.

    That is done within moments; a wait with an undelivered wake goes once the wake is delivered.
    """

    task_id: TaskId


class TaskDeleteReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`waits_cancelled`: how many of its waits were watching."""

    task_id: str
    waits_cancelled: int


def _register_needs(request: TaskRegister) -> Scope:
    """An X server is started for it."""
    return Scope.ACT if request.isolated_display else Scope.WAIT


def _update_needs(request: TaskUpdate) -> Scope:
    """A status may end waits and a display; a budget sets what may be spent."""
    return Scope.WAIT if request.status is None and request.budget is None else Scope.ACT


_ID = {"id": "task_id"}
COMMANDS = (
    Command(
        TaskRegister,
        TaskReply,
        mutating=True,
        deferred=True,
        limit_s=DISPLAY_S,
        begins="tasks",
        positional=2,
        feature="tasks",
        fleet=FleetRoute.PLACED,
        tool=McpTool(
            "Start a task with a plan; gets its own isolated display.",
            "tasks",
            hidden=("metadata", "agent_id", "display_width", "display_height", "budget", "labels"),
            params={
                "metadata": "any JSON to keep with it",
                "agent_id": "who does it",
                "display_width": "pixels; 0: as set",
                "display_height": "pixels; 0: as set",
                "budget": "max_cost_usd, max_evaluations for all its waits",
                "labels": "what the host must carry, in a fleet",
            },
        ),
        rest=RestOperation("POST", "/api/tasks", Scope.WAIT, "registering a task", needs=_register_needs),
    ),
    Command(
        TaskUpdate,
        TaskReply,
        mutating=True,
        errors="Conflict for an impossible move",
        feature="tasks",
        destroys=True,  # an end cancels the task's waits and closes its display
        tool=McpTool(
            "Message or query a task, or set its status.",
            "tasks",
            hidden=("budget",),
            quotes_screens=True,
            params={"budget": "max_cost_usd, max_evaluations for all its waits"},
        ),
        rest=RestOperation("POST", "/api/tasks/{id}/update", Scope.WAIT, path_fields=_ID, needs=_update_needs),
    ),
    Command(
        TaskItemUpdate,
        TaskReply,
        mutating=True,
        errors="Conflict for a move it cannot make",
        feature="tasks",
        tool=McpTool("Set status of a plan item, from 1.", "tasks"),
        rest=RestOperation("POST", "/api/tasks/{id}/items/{item}", Scope.WAIT, path_fields=_ID | {"item": "item"}),
    ),
    Command(
        TaskPlanAppend,
        TaskReply,
        mutating=True,
        feature="tasks",
        tool=McpTool("Add plan items.", "tasks"),
        rest=RestOperation("POST", "/api/tasks/{id}/items", Scope.WAIT, path_fields=_ID),
    ),
    Command(
        TaskLogAction,
        TaskLogActionReply,
        mutating=True,
        feature="tasks",
        tool=McpTool(
            "Log an action under a plan item.",
            "tasks",
            hidden=("input_data", "output_data", "duration_ms"),
            params={"input_data": "any JSON", "output_data": "any JSON", "duration_ms": "how long it took"},
        ),
        rest=RestOperation("POST", "/api/tasks/{id}/actions", Scope.WAIT, path_fields=_ID),
    ),
    Command(
        TaskSummary,
        TaskSummaryReply,
        feature="tasks",
        tool=McpTool(
            "Summary of a task's plan and progress.",
            "tasks",
            hidden=("max_tokens", "as_data"),
            quotes_screens=True,
            params={"as_data": "the plan as data too"},
        ),
    ),
    Command(
        TaskDrillDown,
        TaskDrillDownReply,
        feature="tasks",
        tool=McpTool("One plan item with its actions and logs.", "tasks", hidden=("limit",), quotes_screens=True),
    ),
    Command(
        TaskThread,
        TaskThreadReply,
        feature="tasks",
        tool=McpTool("Messages of a task.", "tasks", hidden=("limit",), quotes_screens=True),
    ),
    Command(TaskActions, TaskActionsReply, feature="tasks"),
    Command(TaskExportTexts, TaskExportTextsReply, feature="tasks"),
    Command(
        TaskList,
        TaskListReply,
        feature="tasks",
        fleet=FleetRoute.ALL,
        tool=McpTool(
            "List tasks.",
            "tasks",
            hidden=("tasks", "displays", "limit", "offset"),
            params={
                "tasks": "these alone, by whole ids",
                "displays": "those on these displays alone",
                "offset": "so many of the newest are left out",
            },
            aliases={"status": "statuses"},
        ),
    ),
    Command(
        TaskDelete,
        TaskDeleteReply,
        mutating=True,
        feature="tasks",
        destroys=True,
        rest=RestOperation("DELETE", "/api/tasks/{id}", Scope.ADMIN, path_fields=_ID),
    ),
)
