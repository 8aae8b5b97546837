"""A task's summary within a token budget, and the message that makes an agent continue a stuck task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from acud.features.tasks.rules import current_item, headline, one_line, utc_text
from acud.types import WaitInfo
from acud.types.tasks import Action, ActionView, Detail, ItemStatus, Message, PlanItem, Task

PACKET_MESSAGES = 5
PACKET_ACTIONS = 10
PACKET_LOGS = 5
PACKET_ITEMS = 60
"""Items of the plan; with the other limits a packet stays below 64 kB, which a receiver takes in one message."""
_MAX_TEXT = 400
"""Characters of one text in the packet, which must fit in a message."""
BYTES_PER_TOKEN = 3
"""Tokens are estimated as UTF-8 bytes / 3, rounded up. Byte-pair encodings take about 4 bytes of English prose, fewer
of ids and numbers, and 3 (one character) of most CJK text: the estimate is high for prose, fair for a task's mix."""
FEWEST_TOKENS = 60
"""The smallest budget: the headline and the count of left-out lines."""
_ACTION, _LOG, _DATA, _MESSAGE = 300, 300, 600, 300
_FOCUS_MESSAGES = 5


class TaskTree(Struct, frozen=True):
    """`actions` and `messages` oldest first; `waits` live ones first. A caller loads only what the summary needs."""

    task: Task
    items: tuple[PlanItem, ...]
    actions: tuple[ActionView, ...] = ()
    messages: tuple[Message, ...] = ()
    waits: tuple[WaitInfo, ...] = ()

    def of_item(self, number: int | None) -> tuple[ActionView, ...]:
        return tuple(view for view in self.actions if view.action.item == number)


def build_packet(tree: TaskTree, now: float) -> dict[str, Any]:
    """Return the task, its plan, the active item with its newest actions and logs, the last messages and the waits."""
    task, active = tree.task, current_item(tree.items)
    return {
        "task_id": task.task_id,
        "name": one_line(task.name, _MAX_TEXT),
        "status": task.status.value,
        "agent_id": task.agent_id,
        "display": task.display,
        "idle_s": round(now - task.updated_at),
        "updated_at": utc_text(task.updated_at),
        "plan": [_packet_item(item) for item in tree.items[:PACKET_ITEMS]],
        "plan_left_out": max(0, len(tree.items) - PACKET_ITEMS),
        "active_item": None if active is None else {**_packet_item(active), "actions": _newest_actions(active, tree)},
        "messages": [_packet_message(message) for message in tree.messages[-PACKET_MESSAGES:]],
        "waits": [_packet_wait(wait) for wait in tree.waits],
        "next": f'task_summary {task.task_id} shows the task; task_update sets its status or says "still at it"',
    }


def resume_text(tree: TaskTree, now: float) -> str:
    """Return the wake's text: `[task_stuck_resume] {json}`."""
    return f"[task_stuck_resume] {msgspec.json.encode(build_packet(tree, now)).decode()}"


def _packet_item(item: PlanItem) -> dict[str, Any]:
    return {"number": item.number, "title": one_line(item.title, _MAX_TEXT), "status": item.status.value}


def _newest_actions(item: PlanItem, tree: TaskTree) -> list[dict[str, Any]]:
    return [_make_action_entry(view) for view in tree.of_item(item.number)[-PACKET_ACTIONS:]]


def _make_action_entry(view: ActionView) -> dict[str, Any]:
    action = view.action
    return {
        "action_type": action.action_type.value,
        "summary": one_line(action.summary, _MAX_TEXT),
        "status": action.status.value,
        "duration_ms": action.duration_ms,
        "logs": [f"{log.log_type}: {one_line(log.content, _MAX_TEXT)}" for log in view.logs[-PACKET_LOGS:]],
    }


def _packet_message(message: Message) -> dict[str, str]:
    return {"role": message.role, "msg_type": message.msg_type, "content": one_line(message.content, _MAX_TEXT)}


def _packet_wait(wait: WaitInfo) -> dict[str, str]:
    return {
        "wait_id": wait.wait_id,
        "state": wait.state.value,
        "message": one_line(wait.message or wait.verdict.detail, _MAX_TEXT),
    }


class SummaryText(Struct, frozen=True):
    """`tokens`: the estimate for `text`. `left_out`: lines that did not fit, by kind."""

    text: str
    tokens: int
    left_out: dict[str, int]


class _Line(Struct, frozen=True):
    kind: str
    rank: int
    age: int
    text: str


def count_tokens(text: str) -> int:
    """Return the estimated number of tokens of `text`."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def summarise(tree: TaskTree, detail: Detail, max_tokens: int) -> SummaryText:
    """Return the task at this level of detail in at most `max_tokens` (at least `FEWEST_TOKENS`) estimated tokens."""
    lines = list(_make_lines(tree, detail))
    head = headline(tree.task, tree.items)
    whole = "\n".join([head, *(line.text for line in lines)])
    if count_tokens(whole) <= max_tokens:
        return SummaryText(whole, count_tokens(whole), {})
    return _fit_lines(head, lines, max_tokens * BYTES_PER_TOKEN)


def _fit_lines(head: str, lines: list[_Line], room: int) -> SummaryText:
    every = Counter(line.kind for line in lines)
    head = _cut_text(head, room - len(_left_out(every).encode()) - 1)
    room -= len(f"{head}\n{_left_out(every)}".encode())
    taken: set[int] = set()
    for index, line in sorted(enumerate(lines), key=lambda pair: (pair[1].rank, pair[1].age, pair[0])):
        room -= len(line.text.encode()) + 1
        if room < 0:
            break
        taken.add(index)
    left = Counter(line.kind for index, line in enumerate(lines) if index not in taken)
    told = [line.text for index, line in enumerate(lines) if index in taken]
    text = "\n".join([head, *told, *([_left_out(left)] if left else [])])
    return SummaryText(text, count_tokens(text), dict(left))


def _cut_text(text: str, room: int) -> str:
    encoded = text.encode()
    return text if len(encoded) <= room else encoded[: max(0, room - 3)].decode(errors="ignore") + "…"


def _left_out(counts: dict[str, int]) -> str:
    return "left out: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()) if counts else ""


def _make_lines(tree: TaskTree, detail: Detail) -> Iterator[_Line]:
    yield from _describe_display(tree)
    active = current_item(tree.items) if detail is Detail.FOCUSED else None
    for item in tree.items:
        here = active is not None and item.number == active.number
        yield _Line("items", 1 if here or active is None else 3, 0 if here else item.number, _describe_item(item))
        if here or detail in (Detail.ACTIONS, Detail.FULL):
            yield from _action_lines(tree.of_item(item.number), full=here or detail is Detail.FULL)
    if detail in (Detail.ACTIONS, Detail.FULL):
        yield from _action_lines(tree.of_item(None), full=detail is Detail.FULL)
    if detail in (Detail.FULL, Detail.FOCUSED):
        yield from _wait_lines(tree.waits)
        yield from _message_lines(tree.messages if detail is Detail.FULL else tree.messages[-_FOCUS_MESSAGES:])


def _describe_display(tree: TaskTree) -> Iterator[_Line]:
    if tree.task.display:
        size = tree.task.metadata.get("display_resolution", "")
        yield _Line("facts", 0, 0, f"display {tree.task.display} {one_line(str(size), 20)}")


def _describe_item(item: PlanItem) -> str:
    took = f", {item.duration_seconds:g} s" if item.duration_seconds is not None else ""
    failed = f", {item.failed_actions} failed" if item.failed_actions else ""
    count = f"{item.actions} action{'' if item.actions == 1 else 's'}{failed}"
    mark = ">" if item.status is ItemStatus.ACTIVE else " "
    return f"{mark}{item.number} [{item.status}] {one_line(item.title, _ACTION)} ({count}{took})"


def _action_lines(views: tuple[ActionView, ...], *, full: bool) -> Iterator[_Line]:
    for age, view in zip(range(len(views) - 1, -1, -1), views, strict=True):
        yield _Line("actions", 2, age, _describe_action(view.action))
        if full:
            for name, data in (("in", view.action.input_data), ("out", view.action.output_data)):
                if data is not None:
                    yield _Line("data", 5, age, f"    {name}: {one_line(_to_text(data), _DATA)}")
            for log in view.logs:
                yield _Line("logs", 4, age, f"    {log.log_type}: {one_line(log.content, _LOG)}")


def _describe_action(action: Action) -> str:
    facts = [action.action_type.value, action.status.value]
    facts += [f"{action.duration_ms:g} ms"] if action.duration_ms is not None else []
    facts += [f"judge {action.judge}"] if action.judge else []
    facts += [f"${action.cost_usd:.6f}"] if action.cost_usd is not None else []
    return f"  - {one_line(action.summary, _ACTION)} ({', '.join(facts)})"


def _to_text(data: object) -> str:
    return data if isinstance(data, str) else msgspec.json.encode(data).decode()


def _wait_lines(waits: tuple[WaitInfo, ...]) -> Iterator[_Line]:
    for age, wait in enumerate(waits):
        told = one_line(wait.message or wait.verdict.detail, _LOG)
        yield _Line("waits", 2, age, f"  wait {wait.wait_id} {wait.state}: {told}")


def _message_lines(messages: tuple[Message, ...]) -> Iterator[_Line]:
    for age, one in zip(range(len(messages) - 1, -1, -1), messages, strict=True):
        text = f"  {utc_text(one.created_at)} {one.role}: {one_line(one.content, _MESSAGE)}"
        yield _Line("messages", 3, age, text)
