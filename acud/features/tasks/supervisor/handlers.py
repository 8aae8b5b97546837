"""Answer requests: the task memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acud.base.ids import new_id
from acud.config.fleet import check_host_labels
from acud.features.tasks.summary import summarise
from acud.features.tasks.supervisor.service import check_data
from acud.protocol.requests.tasks import (
    TaskActions,
    TaskActionsReply,
    TaskDelete,
    TaskDeleteReply,
    TaskDrillDown,
    TaskDrillDownReply,
    TaskExportTexts,
    TaskExportTextsReply,
    TaskItemUpdate,
    TaskList,
    TaskListReply,
    TaskLogAction,
    TaskLogActionReply,
    TaskPlanAppend,
    TaskRegister,
    TaskReply,
    TaskSummary,
    TaskSummaryReply,
    TaskThread,
    TaskThreadReply,
    TaskUpdate,
)
from acud.store.rows import OwnerFilter
from acud.supervisor.control import Call, handles
from acud.types.tasks import Detail, ItemStatus, TaskStatus, TaskView

if TYPE_CHECKING:
    from acud.features.tasks.supervisor.feature import TasksFeature


@handles(TaskRegister)
async def task_register(feature: TasksFeature, request: TaskRegister, call: Call) -> TaskReply:
    """Begin a task, once its display is up."""
    check_data("metadata", request.metadata)
    check_host_labels(feature.core.settings.fleet, request.labels)
    task_id, displays = new_id("task"), feature.core.displays
    if not request.isolated_display:
        return TaskReply(feature.tasks.view(feature.tasks.register(request, task_id, None)))
    size = feature.core.settings.display
    width, height = request.display_width or size.width, request.display_height or size.height
    watched = await displays.create(width, height, size.window_manager, task_id, request.labels)
    task = feature.tasks.register(request, task_id, watched)
    return TaskReply(feature.tasks.view(task), displays.list_notes(watched))


_ANSWER_TOKENS = 500


@handles(TaskUpdate)
def task_update(feature: TasksFeature, request: TaskUpdate, call: Call) -> TaskReply:
    """Add a message, answer a query, change the status. An end with open plan items is noted, not refused."""
    view = feature.tasks.view(feature.tasks.update(request))
    return TaskReply(view, tuple(_list_notes(view)), _answer(feature, view) if request.query else "")


def _list_notes(view: TaskView) -> list[str]:
    still = [item.number for item in view.items if item.status in (ItemStatus.PENDING, ItemStatus.ACTIVE)]
    if view.task.status is not TaskStatus.COMPLETED or not still:
        return []
    return [f"completed with open plan items: {', '.join(map(str, still[:20]))}"]


def _answer(feature: TasksFeature, view: TaskView) -> str:
    return summarise(feature.tasks.tree(view.task, Detail.FOCUSED, view.items), Detail.FOCUSED, _ANSWER_TOKENS).text


@handles(TaskItemUpdate)
def task_item_update(feature: TasksFeature, request: TaskItemUpdate, call: Call) -> TaskReply:
    return TaskReply(feature.tasks.view(feature.tasks.update_item(request)))


@handles(TaskPlanAppend)
def task_plan_append(feature: TasksFeature, request: TaskPlanAppend, call: Call) -> TaskReply:
    return TaskReply(feature.tasks.view(feature.tasks.append(request)))


@handles(TaskLogAction)
def task_log_action(feature: TasksFeature, request: TaskLogAction, call: Call) -> TaskLogActionReply:
    task, action = feature.tasks.log_agents_action(request)
    return TaskLogActionReply(task.task_id, action)


@handles(TaskSummary)
def task_summary(feature: TasksFeature, request: TaskSummary, call: Call) -> TaskSummaryReply:
    view, detail = feature.tasks.view(feature.tasks.find(request.task_id)), request.detail_level
    told = summarise(feature.tasks.tree(view.task, detail, view.items), detail, request.max_tokens)
    return TaskSummaryReply(
        task_id=view.task.task_id,
        status=view.task.status,
        summary=told.text,
        tokens=told.tokens,
        left_out=told.left_out,
        view=view if request.as_data else None,
    )


@handles(TaskDrillDown)
def task_drill_down(feature: TasksFeature, request: TaskDrillDown, call: Call) -> TaskDrillDownReply:
    task_id = feature.tasks.find(request.task_id).task_id
    item = feature.tasks.table.item(task_id, request.item)
    return TaskDrillDownReply(task_id, item, feature.tasks.actions.newest_of_item(task_id, item.number, request.limit))


@handles(TaskThread)
def task_thread(feature: TasksFeature, request: TaskThread, call: Call) -> TaskThreadReply:
    task_id, store = feature.tasks.find(request.task_id).task_id, feature.tasks.table
    return TaskThreadReply(task_id, store.messages(task_id, request.limit), store.count_messages(task_id))


@handles(TaskActions)
def task_actions(feature: TasksFeature, request: TaskActions, call: Call) -> TaskActionsReply:
    task_id, actions = feature.tasks.find(request.task_id).task_id, feature.tasks.actions
    return TaskActionsReply(task_id, actions.newest(task_id, request.limit), actions.count(task_id))


@handles(TaskExportTexts)
def task_export_texts(feature: TasksFeature, request: TaskExportTexts, call: Call) -> TaskExportTextsReply:
    """Return texts as an export may hold them."""
    feature.tasks.find(request.task_id)
    settings, redact = feature.core.settings.redaction, feature.core.redaction.redact
    texts = tuple(map(redact, request.texts)) if settings.recordings else request.texts
    return TaskExportTextsReply(settings.recordings, settings.evidence == "redacted", texts)


@handles(TaskList)
def task_list(feature: TasksFeature, request: TaskList, call: Call) -> TaskListReply:
    """Return the tasks asked for, newest first."""
    living = (TaskStatus.ACTIVE, TaskStatus.PAUSED)
    of = OwnerFilter(request.tasks, request.displays)
    statuses = request.statuses or (() if request.ended else living)
    page = feature.tasks.table.newest(statuses, request.limit, of, request.offset)
    return TaskListReply(feature.tasks.views(page.tasks), page.total)


@handles(TaskDelete)
def task_delete(feature: TasksFeature, request: TaskDelete, call: Call) -> TaskDeleteReply:
    return TaskDeleteReply(*feature.tasks.delete(request.task_id))
