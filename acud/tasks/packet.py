"""What an agent is told to take up a task that lies still."""

from __future__ import annotations

from typing import Any

import msgspec

from acud.tasks.tree import Tree
from acud.tasks.words import focus, folded, moment
from acud.types import WaitInfo
from acud.types.tasks import ActionView, Message, PlanItem

MESSAGES = 5
ACTIONS = 10
LOGS = 5
PLAN = 60
"""Items of the plan; with the other limits a packet stays below 64 kB, which a receiver takes in one message."""
_TEXT = 400
"""Characters of one text in the packet: it must stand in a message, not be the whole history."""


def packet(tree: Tree, now: float) -> dict[str, Any]:
    """Return the task, its plan, the active item with its newest actions and logs, the last messages and the waits."""
    task, active = tree.task, focus(tree.items)
    return {
        "task_id": task.task_id,
        "name": folded(task.name, _TEXT),
        "status": task.status.value,
        "agent_id": task.agent_id,
        "display": task.display,
        "idle_s": round(now - task.updated_at),
        "updated_at": moment(task.updated_at),
        "plan": [_item(item) for item in tree.items[:PLAN]],
        "plan_left_out": max(0, len(tree.items) - PLAN),
        "active_item": None if active is None else _expanded(active, tree),
        "messages": [_message(message) for message in tree.messages[-MESSAGES:]],
        "waits": [_wait(wait) for wait in tree.waits],
        "next": f'task_summary {task.task_id} shows the task; task_update sets its status or says "still at it"',
    }


def text(tree: Tree, now: float) -> str:
    """Return the wake's text: `[task_stuck_resume] {json}`."""
    return f"[task_stuck_resume] {msgspec.json.encode(packet(tree, now)).decode()}"


def _item(item: PlanItem) -> dict[str, Any]:
    return {"ordinal": item.ordinal, "title": folded(item.title, _TEXT), "status": item.status.value}


def _expanded(item: PlanItem, tree: Tree) -> dict[str, Any]:
    return {**_item(item), "actions": [_action(view) for view in tree.of_item(item.ordinal)[-ACTIONS:]]}


def _action(view: ActionView) -> dict[str, Any]:
    action = view.action
    return {
        "action_type": action.action_type.value,
        "summary": folded(action.summary, _TEXT),
        "status": action.status.value,
        "duration_ms": action.duration_ms,
        "logs": [f"{log.log_type}: {folded(log.content, _TEXT)}" for log in view.logs[-LOGS:]],
    }


def _message(message: Message) -> dict[str, str]:
    return {"role": message.role, "msg_type": message.msg_type, "content": folded(message.content, _TEXT)}


def _wait(wait: WaitInfo) -> dict[str, str]:
    return {
        "wait_id": wait.wait_id,
        "state": wait.state.value,
        "message": folded(wait.message or wait.verdict.detail, _TEXT),
    }
