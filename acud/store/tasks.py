"""The task memory: tasks, their plans and threads, what was done for them,"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from acud.errors import NotFound
from acud.store.connection import Table
from acud.store.rows import EVERYONE, OwnerFilter, Row, RowCodec, json_list, load
from acud.types.tasks import Action, ActionLog, ActionView, Message, PlanItem, Task, TaskStatus

_SQL = load("tasks")
_TASK = RowCodec(Task)
_ITEM = RowCodec(PlanItem)
_MESSAGE = RowCodec(Message)
_ACTIONS_SQL = load("actions")
_ACTION = RowCodec(Action)
_LOG = RowCodec(ActionLog)


class TaskPage(Struct, frozen=True):
    """Some tasks, newest first, of `total` that match."""

    tasks: tuple[Task, ...]
    total: int


class TaskTable(Table):
    """The tables `tasks`, `plan_items` and `task_messages`."""

    # ---- tasks -----------------------------------------------------------------------------------------------------

    def insert(self, task: Task) -> None:
        """Keep a new task. Raises: Conflict when its id is there already."""
        self._database.write(_SQL["insert"], _TASK.bind(task))

    def update(self, task: Task) -> None:
        """Replace status, times and budget of a task. Raises: NotFound."""
        if self._database.write(_SQL["update"], _TASK.bind(task)) == 0:
            raise _not_found(task.task_id)

    def get(self, task_id: str) -> Task:
        """Return the task with exactly this id. Raises: NotFound."""
        found = self._first(_TASK, _SQL["get"], {"task_id": task_id})
        if found is None:
            raise _not_found(task_id)
        return found

    def find(self, beginning: str) -> Task:
        """Return the one task whose id is, or begins with, `beginning`. Raises: NotFound; InvalidRequest if several."""
        unknown = _not_found(beginning)
        return self._beginning(_TASK, _SQL["beginning"], "several tasks", beginning, unknown)

    def newest(self, statuses: tuple[TaskStatus, ...], limit: int, of: OwnerFilter = EVERYONE) -> TaskPage:
        """Return the tasks in `statuses` (empty: in any), newest first, at most `limit`; `of` some alone."""
        wanted: Row = {"statuses": json_list(statuses or tuple(TaskStatus)), **of.bound()}
        rows = self._database.read(_SQL["newest"], {**wanted, "limit": limit})
        total = self._database.read(_SQL["count"], wanted)[0]["count(*)"]
        return TaskPage(tuple(map(_TASK.read, rows)), int(total or 0))

    def all_in(self, status: TaskStatus) -> tuple[Task, ...]:
        """Return every task in `status`, oldest first."""
        return self._all(_TASK, _SQL["all_in"], {"status": status.value})

    def delete(self, task_id: str) -> None:
        """Forget a task with its plan, actions, logs and thread. Raises: NotFound."""
        if self._database.write(_SQL["delete"], {"task_id": task_id}) == 0:
            raise _not_found(task_id)

    def trim_parts(self, before_utc_s: float, keep_actions: int, limit: int = -1) -> int:
        """Delete threads, logs and actions of tasks that ended before, and actions over `keep_actions`, at most `limit`
        rows of each; return the most that went of one of them.
        """
        old: Row = {"before_utc_s": before_utc_s, "limit": limit}
        gone = [self._database.write(_SQL[block], old) for block in ("trim_messages", "trim_logs", "trim_actions")]
        return max(*gone, self._database.write(_SQL["trim_surplus"], {"keep": keep_actions, "limit": limit}))

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete tasks that ended before and have neither actions nor a thread left; return how many."""
        return self._database.write(_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})

    # ---- plans -----------------------------------------------------------------------------------------------------

    def append_items(self, task_id: str, titles: tuple[str, ...]) -> tuple[PlanItem, ...]:
        """Add pending items at the end of the plan and return them. Raises: NotFound."""
        taken = self._database.write_returning(_SQL["take_ordinals"], {"task_id": task_id, "count": len(titles)})
        if not taken:
            raise _not_found(task_id)
        first = int(taken[0]["first"] or 0)
        items = tuple(PlanItem(first + offset, title) for offset, title in enumerate(titles))
        for item in items:
            self._database.write(_SQL["insert_item"], {"task_id": task_id, **_ITEM.bind(item)})
        return items

    def update_item(self, task_id: str, item: PlanItem) -> None:
        """Replace status and times of an item."""
        self._database.write(_SQL["update_item"], {"task_id": task_id, **_ITEM.bind(item)})

    def items(self, task_id: str) -> tuple[PlanItem, ...]:
        """Return the plan in order, each item with its counts of actions."""
        return self._all(_ITEM, _SQL["items"], {"task_id": task_id})

    def active_ordinal(self, task_id: str) -> int | None:
        """Return the item that an action belongs to when nobody says: the one made active last; None: none is."""
        rows = self._database.read(_SQL["active_ordinal"], {"task_id": task_id})
        return int(rows[0]["ordinal"] or 0) if rows else None

    def item(self, task_id: str, ordinal: int) -> PlanItem:
        """Return one item. Raises: NotFound, naming the ordinals there are."""
        items = self.items(task_id)
        found = next((item for item in items if item.ordinal == ordinal), None)
        if found is None:
            known = f"its items are 0 to {len(items) - 1}" if items else "it has no plan; task_plan_append adds one"
            raise NotFound(f"task {task_id} has no item {ordinal}", hint=known)
        return found

    # ---- threads ---------------------------------------------------------------------------------------------------

    def add_message(self, task_id: str, message: Message) -> None:
        """Add to the thread. Raises: Conflict when the task is not in the store."""
        self._database.write(_SQL["add_message"], {"task_id": task_id, **_MESSAGE.bind(message)})

    def messages(self, task_id: str, limit: int) -> tuple[Message, ...]:
        """Return the newest `limit` messages, oldest of them first."""
        rows = self._database.read(_SQL["messages"], {"task_id": task_id, "limit": limit})
        return tuple(_MESSAGE.read(row) for row in reversed(rows))

    def count_messages(self, task_id: str) -> int:
        """Return how many messages the thread has."""
        return self._number(_SQL["count_messages"], {"task_id": task_id})


def _not_found(task_id: str) -> NotFound:
    return NotFound(f"no task {task_id!r}", hint="task_list shows every kept one", task_id=task_id)


class ActionTable(Table):
    """The tables `actions` and `action_logs`."""

    def add(self, task_id: str, action: Action) -> None:
        """Keep an action. Raises: Conflict when the task, or its item, is not in the store."""
        self._database.write(_ACTIONS_SQL["insert"], {"task_id": task_id, **_ACTION.bind(action)})

    def update(self, action: Action) -> None:
        """Replace status, output, duration, judge and cost; an action that is gone stays gone."""
        self._database.write(_ACTIONS_SQL["update"], _ACTION.bind(action))

    def of_subject(self, subject: str) -> Action | None:
        """Return the action that the wait `subject` is, or None (its task was deleted, or it has none)."""
        return self._first(_ACTION, _ACTIONS_SQL["of_subject"], {"subject": subject})

    def add_log(self, action_id: str, log: ActionLog) -> None:
        """Keep a line under an action. Raises: Conflict when it is not in the store."""
        self._database.write(_ACTIONS_SQL["add_log"], {"action_id": action_id, **_LOG.bind(log)})

    def newest(self, task_id: str, limit: int) -> tuple[ActionView, ...]:
        """Return the newest `limit` actions of a task with their logs, oldest of them first."""
        return self._views(self._database.read(_ACTIONS_SQL["newest"], {"task_id": task_id, "limit": limit}))

    def count(self, task_id: str) -> int:
        """Return how many actions a task has."""
        return self._number(_ACTIONS_SQL["count"], {"task_id": task_id})

    def newest_of_item(self, task_id: str, ordinal: int, limit: int) -> tuple[ActionView, ...]:
        """Return the same of one plan item."""
        bindings: Row = {"task_id": task_id, "ordinal": ordinal, "limit": limit}
        return self._views(self._database.read(_ACTIONS_SQL["newest_of_item"], bindings))

    def _views(self, rows: list[Row]) -> tuple[ActionView, ...]:
        actions = [_ACTION.read(row) for row in reversed(rows)]
        wanted = msgspec.json.encode([action.action_id for action in actions]).decode()
        logs: dict[str, list[ActionLog]] = {action.action_id: [] for action in actions}
        for row in self._database.read(_ACTIONS_SQL["logs"], {"action_ids": wanted}) if actions else []:
            logs[str(row["action_id"])].append(_LOG.read(row))
        return tuple(ActionView(action, tuple(logs[action.action_id])) for action in actions)
