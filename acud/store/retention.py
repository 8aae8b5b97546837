"""What is deleted, and when: by age and number, what belonged to deleted tasks, and free pages of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from acud.config import StoreSettings
from acud.store.connection import Database, Table
from acud.store.requests import KEEP_S
from acud.store.rows import RowCodec, load

if TYPE_CHECKING:
    from acud.store.store import Store


_DAY_S = 86_400.0
_MB = 1_000_000
STEP_ROWS = 500
"""Rows of each table that one step of the supervisor deletes: some milliseconds, also on a slow disk."""
_DELETED_SQL = load("forgetting")
_MOST_EVENTS = 2000
"""Events that one step looks at: some milliseconds."""
_SPACE_SQL = load("space")
_INCREMENTAL = 2  # sqlite.org/pragma.html#pragma_auto_vacuum
_SPARE_PAGES = 1000
"""4 MB stay free in the file: what is written next would only make it grow again."""


class TrimResult(Struct, frozen=True):
    """How many rows went. `files`: for `EvidenceFiles.remove_files`, after the commit."""

    waits: int
    evaluations: int
    usage: int
    events: int
    requests: int
    displays: int
    wakes: int
    tasks: int
    agent_runs: int
    web_passes: int
    files: tuple[str, ...]
    more: bool
    """Whether a step was too short for all there is to forget."""


def trim(store: Store, settings: StoreSettings, now_utc_s: float, limit: int = -1) -> TrimResult:
    """Delete, in the current turn, what is older or more than `settings` keeps. What lives always stays.

    At most `limit` rows of each table (-1: all): call it again while it says `more`. Free pages go back to the file
    system in the same way. Raises: StoreUnavailable.
    """
    with store.savepoint():
        trimmed = _trim(store, settings, now_utc_s, limit)
        gives = store.free_pages.give_back() if limit >= 0 else False
    return msgspec.structs.replace(trimmed, more=trimmed.more or gives)


def _trim(store: Store, settings: StoreSettings, now_utc_s: float, limit: int) -> TrimResult:
    old_utc_s = now_utc_s - settings.keep_days * _DAY_S
    judged_utc_s = now_utc_s - settings.keep_evaluations_days * _DAY_S
    files = store.evidence.trim(old_utc_s, int(settings.evidence_max_mb * _MB), limit)
    gone = {
        "evaluations": store.evaluations.trim(judged_utc_s, limit)
        + store.evaluations.trim_surplus(settings.keep_evaluations, limit)
        + store.evaluations.trim_of_waits(old_utc_s, limit),
        "usage": store.usage.trim(judged_utc_s, limit),
        "waits": store.waits.trim(old_utc_s, limit),
        "events": store.events.trim(settings.keep_events, limit),
        "requests": store.requests.trim(now_utc_s - KEEP_S, limit),
        "displays": store.displays.trim(old_utc_s, limit),
        "wakes": store.outbox.trim(old_utc_s, limit),
        "agent_runs": store.agent_runs.trim(old_utc_s, limit),
    }
    parts = store.tasks.trim_parts(old_utc_s, settings.keep_actions, limit)
    tasks = store.tasks.trim(old_utc_s, limit)
    more = limit >= 0 and max(len(files), parts, tasks, *gone.values()) >= limit
    store.push.trim(now_utc_s)
    return TrimResult(**gone, tasks=tasks, web_passes=store.web.trim(now_utc_s), files=files, more=more)


class ForgottenRows(Struct, frozen=True):
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


class DeletedTasks(Table):
    """The table `deleted_tasks`."""

    def begin(self, task_id: str) -> None:
        """Note that the task is to be forgotten, in the turn that deletes it, before anything of it is deleted."""
        self._database.write(_DELETED_SQL["begin"], {"task_id": task_id})

    def step(self, newest: int, limit: int) -> ForgottenRows:
        """Forget a step's worth, at most `limit` rows of each table; events up to the number `newest`."""
        steps = [self._step(_CODEC.read(row), newest, limit) for row in self._database.read(_DELETED_SQL["all"])]
        return ForgottenRows(
            tuple(name for step in steps for name in step.files),
            any(step.more for step in steps),
            any(step.left for step in steps),
        )

    def _step(self, task: _Deleted, newest: int, limit: int) -> ForgottenRows:
        upto = min(newest, task.seen + _MOST_EVENTS)
        if upto > task.seen:
            self._database.write(_DELETED_SQL["blank_events"], {"after": task.seen, "upto": upto, "ids": task.ids})
            self._database.write(_DELETED_SQL["seen"], {"task_id": task.task_id, "seen": upto})
        if upto < newest:
            return ForgottenRows(more=True)
        files, more = self._waits(task, limit)
        self._database.write(_DELETED_SQL["delete_runs"], {"ids": task.ids})
        self._database.write(_DELETED_SQL["delete_wakes"], {"ids": task.ids})
        done = self._database.write(_DELETED_SQL["delete_done"], {"task_id": task.task_id, "ids": task.ids})
        return ForgottenRows(files, more, not done)

    def _waits(self, task: _Deleted, limit: int) -> tuple[tuple[str, ...], bool]:
        rows = self._database.read(_DELETED_SQL["ended_waits"], {"task_id": task.task_id, "limit": limit})
        if not rows:
            return (), False
        waits = _json([str(row["wait_id"]) for row in rows])
        judged = self._database.write(_DELETED_SQL["delete_evaluations"], {"waits": waits, "limit": limit})
        named = {
            str(row["name"])
            for row in self._database.write_returning(_DELETED_SQL["delete_evidence"], {"waits": waits})
        }
        kept = {
            str(row["name"])
            for row in self._database.read(_DELETED_SQL["still_named"], {"names": _json(sorted(named))})
        }
        self._database.write(_DELETED_SQL["delete_waits"], {"waits": waits})
        return tuple(sorted(named - kept)), max(judged, len(rows)) >= limit


def _json(words: list[str]) -> str:
    return msgspec.json.encode(words).decode()


class FreePages(Table):
    """What the file holds beyond its rows."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.shrinks = self._number(_SPACE_SQL["mode"]) == _INCREMENTAL
        """Whether free pages can be given back; a database that an early acud made cannot until `acud vacuum`."""

    def free_pages(self) -> int:
        """Return how many pages hold nothing."""
        return self._number(_SPACE_SQL["free"])

    def give_back(self) -> bool:
        """Give back 200 free pages in this turn, where many are free; return whether more are left to give."""
        if not self.shrinks or self.free_pages() <= _SPARE_PAGES:
            return False
        self._database.write(_SPACE_SQL["give_back"])
        return self.free_pages() > _SPARE_PAGES
