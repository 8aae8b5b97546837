"""The task memory: tasks, their plans and threads, their actions, and tasks that are being forgotten."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from acud.base.errors import NotFound
from acud.store.connection import Table
from acud.store.rows import EVERYONE, OwnerFilter, Row, RowCodec, json_list, load
from acud.types.tasks import Action, ActionLog, ActionView, Message, PlanItem, Task, TaskStatus

_TASK = RowCodec(Task, fixed=("task_id", "name", "agent_id", "metadata", "created_at", "display", "display_number"))
_ITEM = RowCodec(PlanItem, found=("actions", "failed_actions"), fixed=("number", "title"))
_MESSAGE = RowCodec(Message)
_ACTION = RowCodec(Action, fixed=("action_id", "item", "action_type", "summary", "input_data", "subject", "created_at"))
_LOG = RowCodec(ActionLog)
_SQL = load("tables", _TASK, _ITEM, _MESSAGE, _ACTION, _LOG, folder=Path(__file__).parent)
_MOST_EVENTS = 2000
"""Events that one step of forgetting looks at: some milliseconds."""


class TaskPage(Struct, frozen=True):
    """Some tasks, newest first, of `total` that match."""

    tasks: tuple[Task, ...]
    total: int


class TaskTable(Table):
    """The tables `tasks`, `plan_items` and `task_messages`."""

    def insert(self, task: Task) -> None:
        """Keep a new task. Raises: Conflict when its id is there already."""
        self._database.write(_SQL["tasks_insert"], _TASK.bind(task))

    def update(self, task: Task) -> None:
        """Replace status, times and budget of a task. Raises: NotFound."""
        if self._database.write(_SQL["tasks_update"], _TASK.bind(task)) == 0:
            raise _not_found(task.task_id)

    def get(self, task_id: str) -> Task:
        """Return the task with exactly this id. Raises: NotFound."""
        found = self._read_first(_TASK, _SQL["tasks_get"], {"task_id": task_id})
        if found is None:
            raise _not_found(task_id)
        return found

    def find(self, part: str) -> Task:
        """Return the one task with an id that is, begins with or ends with `part`.

        Raises: NotFound; InvalidRequest if several match.
        """
        unknown = _not_found(part)
        return self._find_named(_TASK, _SQL, "several tasks", part, unknown)

    def newest(
        self, statuses: tuple[TaskStatus, ...], limit: int, of: OwnerFilter = EVERYONE, offset: int = 0
    ) -> TaskPage:
        """Return the tasks of `of` in `statuses` (empty: any), newest first, at most `limit` from the `offset`th on."""
        wanted: Row = {"statuses": json_list(statuses or tuple(TaskStatus)), **of.to_bindings()}
        rows = self._database.read(_SQL["tasks_newest"], {**wanted, "limit": limit, "offset": offset})
        total = self._database.read(_SQL["tasks_count"], wanted)[0]["count(*)"]
        return TaskPage(tuple(map(_TASK.read, rows)), int(total or 0))

    def all_in(self, status: TaskStatus) -> tuple[Task, ...]:
        """Return every task in `status`, oldest first."""
        return self._read_all(_TASK, _SQL["tasks_all_in"], {"status": status.value})

    def delete(self, task_id: str) -> None:
        """Forget a task with its plan, actions, logs and thread. Raises: NotFound."""
        if self._database.write(_SQL["tasks_delete"], {"task_id": task_id}) == 0:
            raise _not_found(task_id)

    def append_items(self, task_id: str, titles: tuple[str, ...]) -> tuple[PlanItem, ...]:
        """Add pending items at the end of the plan and return them. Raises: NotFound."""
        taken = self._database.write_returning(_SQL["tasks_take_items"], {"task_id": task_id, "count": len(titles)})
        if not taken:
            raise _not_found(task_id)
        first = int(taken[0]["first"] or 0)
        items = tuple(PlanItem(first + offset, title) for offset, title in enumerate(titles))
        for item in items:
            self._database.write(_SQL["tasks_insert_item"], {"task_id": task_id, **_ITEM.bind(item)})
        return items

    def update_item(self, task_id: str, item: PlanItem) -> None:
        """Replace status and times of an item."""
        self._database.write(_SQL["tasks_update_item"], {"task_id": task_id, **_ITEM.bind(item)})

    def items(self, task_id: str) -> tuple[PlanItem, ...]:
        """Return the plan in order, each item with its counts of actions."""
        return self._read_all(_ITEM, _SQL["tasks_items"], {"task_id": task_id})

    def active_item(self, task_id: str) -> int | None:
        """Return the default item of an action: the one made active last, or None."""
        rows = self._database.read(_SQL["tasks_active_item"], {"task_id": task_id})
        return int(rows[0]["number"] or 0) if rows else None

    def item(self, task_id: str, number: int) -> PlanItem:
        """Return one item. Raises: NotFound, naming the numbers there are."""
        items = self.items(task_id)
        found = next((item for item in items if item.number == number), None)
        if found is None:
            known = f"its items are 1 to {len(items)}" if items else "it has no plan; task_plan_append adds one"
            raise NotFound(f"task {task_id} has no item {number}", hint=known)
        return found

    def add_message(self, task_id: str, message: Message) -> None:
        """Add to the thread. Raises: Conflict when the task is not in the store."""
        self._database.write(_SQL["tasks_add_message"], {"task_id": task_id, **_MESSAGE.bind(message)})

    def messages(self, task_id: str, limit: int) -> tuple[Message, ...]:
        """Return the newest `limit` messages, oldest of them first."""
        rows = self._database.read(_SQL["tasks_messages"], {"task_id": task_id, "limit": limit})
        return tuple(_MESSAGE.read(row) for row in reversed(rows))

    def count_messages(self, task_id: str) -> int:
        return self._read_number(_SQL["tasks_count_messages"], {"task_id": task_id})


def _not_found(task_id: str) -> NotFound:
    return NotFound(f"no task {task_id!r}", hint="acud task list --all", task_id=task_id)


class ActionTable(Table):
    """The tables `actions` and `action_logs`."""

    def add(self, task_id: str, action: Action) -> None:
        """Keep an action. Raises: Conflict when the task, or its item, is not in the store."""
        self._database.write(_SQL["actions_insert"], {"task_id": task_id, **_ACTION.bind(action)})

    def update(self, action: Action) -> None:
        """Replace status, output, duration, judge and cost of an action; a deleted action stays deleted."""
        self._database.write(_SQL["actions_update"], _ACTION.bind(action))

    def of_subject(self, subject: str) -> Action | None:
        """Return the action of the wait `subject`, or None (its task was deleted, or it has none)."""
        return self._read_first(_ACTION, _SQL["actions_of_subject"], {"subject": subject})

    def add_log(self, action_id: str, log: ActionLog) -> None:
        """Keep a line under an action. Raises: Conflict when it is not in the store."""
        self._database.write(_SQL["actions_add_log"], {"action_id": action_id, **_LOG.bind(log)})

    def newest(self, task_id: str, limit: int) -> tuple[ActionView, ...]:
        """Return the newest `limit` actions of a task with their logs, oldest of them first."""
        return self._make_views(self._database.read(_SQL["actions_newest"], {"task_id": task_id, "limit": limit}))

    def count(self, task_id: str) -> int:
        return self._read_number(_SQL["actions_count"], {"task_id": task_id})

    def newest_of_item(self, task_id: str, number: int, limit: int) -> tuple[ActionView, ...]:
        bindings: Row = {"task_id": task_id, "item": number, "limit": limit}
        return self._make_views(self._database.read(_SQL["actions_newest_of_item"], bindings))

    def _make_views(self, rows: list[Row]) -> tuple[ActionView, ...]:
        actions = [_ACTION.read(row) for row in reversed(rows)]
        wanted = msgspec.json.encode([action.action_id for action in actions]).decode()
        logs: dict[str, list[ActionLog]] = {action.action_id: [] for action in actions}
        for row in self._database.read(_SQL["actions_logs"], {"action_ids": wanted}) if actions else []:
            logs[str(row["action_id"])].append(_LOG.read(row))
        return tuple(ActionView(action, tuple(logs[action.action_id])) for action in actions)


class ForgottenRows(Struct, frozen=True):
    """The result of a step. `files`: for `EvidenceFiles.remove_files`, after the commit. `more`: another step, now,
    would find more. `left`: something stays until it has ended, or a wake was delivered.
    """

    files: tuple[str, ...] = ()
    more: bool = False
    left: bool = False


class _Deleted(Struct, frozen=True):
    task_id: str
    ids: str
    seen: int


_DELETED = RowCodec(_Deleted)


class DeletedTasks(Table):
    """The table `deleted_tasks`."""

    def record_task(self, task_id: str) -> None:
        """Record that the task is to be forgotten, in the turn that deletes it, before anything of it is deleted."""
        self._database.write(_SQL["forgetting_begin"], {"task_id": task_id})

    def delete_step(self, newest: int, limit: int) -> ForgottenRows:
        """Forget a step's worth, at most `limit` rows of each table; events up to the number `newest`."""
        steps = [self._delete(_DELETED.read(row), newest, limit) for row in self._database.read(_SQL["forgetting_all"])]
        return ForgottenRows(
            tuple(name for step in steps for name in step.files),
            any(step.more for step in steps),
            any(step.left for step in steps),
        )

    def _delete(self, task: _Deleted, newest: int, limit: int) -> ForgottenRows:
        upto = min(newest, task.seen + _MOST_EVENTS)
        if upto > task.seen:
            self._database.write(_SQL["forgetting_blank_events"], {"after": task.seen, "upto": upto, "ids": task.ids})
            self._database.write(_SQL["forgetting_seen"], {"task_id": task.task_id, "seen": upto})
        if upto < newest:
            return ForgottenRows(more=True)
        files, more = self._delete_waits(task, limit)
        self._database.write(_SQL["forgetting_delete_runs"], {"ids": task.ids})
        self._database.write(_SQL["forgetting_delete_wakes"], {"ids": task.ids})
        done = self._database.write(_SQL["forgetting_delete_done"], {"task_id": task.task_id, "ids": task.ids})
        return ForgottenRows(files, more, not done)

    def _delete_waits(self, task: _Deleted, limit: int) -> tuple[tuple[str, ...], bool]:
        rows = self._database.read(_SQL["forgetting_ended_waits"], {"task_id": task.task_id, "limit": limit})
        if not rows:
            return (), False
        waits = json_list([str(row["wait_id"]) for row in rows])
        judged = self._database.write(_SQL["forgetting_delete_evaluations"], {"waits": waits, "limit": limit})
        named = {
            str(row["name"])
            for row in self._database.write_returning(_SQL["forgetting_delete_evidence"], {"waits": waits})
        }
        kept = {
            str(row["name"])
            for row in self._database.read(_SQL["forgetting_still_named"], {"names": json_list(sorted(named))})
        }
        self._database.write(_SQL["forgetting_delete_waits"], {"waits": waits})
        return tuple(sorted(named - kept)), max(judged, len(rows)) >= limit
