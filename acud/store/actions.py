"""What was done for tasks, and the log of each doing."""

from __future__ import annotations

import msgspec

from acud.store import statements
from acud.store.connection import Database
from acud.store.rows import Row, RowCodec
from acud.tasks.nouns import Action, ActionLog, ActionView

_SQL = statements.load("actions")
_ACTION = RowCodec(Action)
_LOG = RowCodec(ActionLog)


class Actions:
    """The tables `actions` and `action_logs`. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, task_id: str, action: Action) -> None:
        """Keep an action. Raises: Conflict when the task, or its item, is not in the store."""
        self._database.write(_SQL["insert"], {"task_id": task_id, **_ACTION.bind(action)})

    def update(self, action: Action) -> None:
        """Replace status, output, duration, judge and cost; an action that is gone stays gone."""
        self._database.write(_SQL["update"], _ACTION.bind(action))

    def of_subject(self, subject: str) -> Action | None:
        """Return the action that the wait `subject` is, or None (its task was deleted, or it has none)."""
        rows = self._database.read(_SQL["of_subject"], {"subject": subject})
        return _ACTION.read(rows[0]) if rows else None

    def add_log(self, action_id: str, log: ActionLog) -> None:
        """Keep a line under an action. Raises: Conflict when it is not in the store."""
        self._database.write(_SQL["add_log"], {"action_id": action_id, **_LOG.bind(log)})

    def newest(self, task_id: str, limit: int) -> tuple[ActionView, ...]:
        """Return the newest `limit` actions of a task with their logs, oldest of them first."""
        return self._views(self._database.read(_SQL["newest"], {"task_id": task_id, "limit": limit}))

    def count(self, task_id: str) -> int:
        """Return how many actions a task has."""
        return int(self._database.read(_SQL["count"], {"task_id": task_id})[0]["count(*)"] or 0)

    def newest_of_item(self, task_id: str, ordinal: int, limit: int) -> tuple[ActionView, ...]:
        """Return the same of one plan item."""
        bindings: Row = {"task_id": task_id, "ordinal": ordinal, "limit": limit}
        return self._views(self._database.read(_SQL["newest_of_item"], bindings))

    def _views(self, rows: list[Row]) -> tuple[ActionView, ...]:
        actions = [_ACTION.read(row) for row in reversed(rows)]
        wanted = msgspec.json.encode([action.action_id for action in actions]).decode()
        logs: dict[str, list[ActionLog]] = {action.action_id: [] for action in actions}
        for row in self._database.read(_SQL["logs"], {"action_ids": wanted}) if actions else []:
            logs[str(row["action_id"])].append(_LOG.read(row))
        return tuple(ActionView(action, tuple(logs[action.action_id])) for action in actions)
