"""What belonged to deleted tasks: events, waits, evaluations, pictures, wakes, runs; removed in steps."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from acud.store import statements
from acud.store.connection import Database
from acud.store.rows import RowCodec

_SQL = statements.load("forgetting")
_EVENTS = 2000
"""Events that one step looks at: some milliseconds."""


class Forgotten(Struct, frozen=True):
    """What a step did. `files`: for `EvidenceFiles.remove_files`, after the commit. `more`: whether another step, now,
    finds something to do. `left`: whether something stays until it has ended, or a wake was delivered.
    """

    files: tuple[str, ...] = ()
    more: bool = False
    left: bool = False


class _Deleted(Struct, frozen=True):
    task_id: str
    ids: str
    seen: int


_CODEC = RowCodec(_Deleted)


class Forgetting:
    """The table `deleted_tasks`. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, task_id: str) -> None:
        """Note that the task is to be forgotten, in the turn that deletes it, before anything of it is deleted."""
        self._database.write(_SQL["begin"], {"task_id": task_id})

    def step(self, newest: int, limit: int) -> Forgotten:
        """Forget a step's worth, at most `limit` rows of each table; events up to the number `newest`."""
        steps = [self._step(_CODEC.read(row), newest, limit) for row in self._database.read(_SQL["all"])]
        return Forgotten(
            tuple(name for step in steps for name in step.files),
            any(step.more for step in steps),
            any(step.left for step in steps),
        )

    def _step(self, task: _Deleted, newest: int, limit: int) -> Forgotten:
        upto = min(newest, task.seen + _EVENTS)
        if upto > task.seen:
            self._database.write(_SQL["blank_events"], {"after": task.seen, "upto": upto, "ids": task.ids})
            self._database.write(_SQL["seen"], {"task_id": task.task_id, "seen": upto})
        if upto < newest:
            return Forgotten(more=True)
        files, more = self._waits(task, limit)
        self._database.write(_SQL["delete_runs"], {"ids": task.ids})
        self._database.write(_SQL["delete_wakes"], {"ids": task.ids})
        done = self._database.write(_SQL["delete_done"], {"task_id": task.task_id, "ids": task.ids})
        return Forgotten(files, more, not done)

    def _waits(self, task: _Deleted, limit: int) -> tuple[tuple[str, ...], bool]:
        rows = self._database.read(_SQL["ended_waits"], {"task_id": task.task_id, "limit": limit})
        if not rows:
            return (), False
        waits = _json([str(row["wait_id"]) for row in rows])
        judged = self._database.write(_SQL["delete_evaluations"], {"waits": waits, "limit": limit})
        named = {str(row["name"]) for row in self._database.write_returning(_SQL["delete_evidence"], {"waits": waits})}
        kept = {str(row["name"]) for row in self._database.read(_SQL["still_named"], {"names": _json(sorted(named))})}
        self._database.write(_SQL["delete_waits"], {"waits": waits})
        return tuple(sorted(named - kept)), max(judged, len(rows)) >= limit


def _json(words: list[str]) -> str:
    return msgspec.json.encode(words).decode()
