"""The waits, one row each, changed only while watching; their pictures, evaluations, and the cost of models."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from acud.base.clock import Instant
from acud.base.errors import Conflict, InvalidRequest, NotFound
from acud.base.typed_values import convert, decode_json
from acud.protocol.requests.daemon import Purpose, UsageRow
from acud.protocol.requests.waits import Evaluation, WaitFacets
from acud.store.connection import Table
from acud.store.rows import EVERYONE, OwnerFilter, Row, RowCodec, json_list, load, load_of_features
from acud.types import Budget, Evidence, Rearmed, Spent, Stage, Verdict, WaitFilter, WaitSpec, WaitState, unknown
from acud.types.waits import fold_search_words, words_of_wait
from acud.waits.machine import StoredBaseline
from acud.waits.model import Places

_IMAGES_SQL = load("wait_images")
_PICTURES_SQL = load("verdict_pictures")
_EVALUATION = RowCodec(Evaluation, found=("number",))
_EVALUATIONS_SQL = load("evaluations", _EVALUATION)
_TASK_SQL = load_of_features("task_record")
"""Statements of the feature that keeps tasks, which need not run: their names and budgets count all the same."""


class StoredWait(Struct, frozen=True):
    """A wait as stored; fields mean the same as in `acud.types.WaitInfo`.

    `created` and `deadline` carry UTC, CLOCK_BOOTTIME and the boot id each: a deadline moved after a reboot was counted
    from another boot than the creation.
    """

    wait_id: str
    state: WaitState
    spec: WaitSpec
    display: str
    created: Instant
    deadline: Instant
    verdict: Verdict = unknown("not_judged", "not judged yet")
    judged: int = 0
    judge_calls: int = 0
    frames_seen: int = 0
    cost_usd: float | None = None
    note: str = ""
    ended_utc_s: float = 0.0
    message: str = ""
    evidence: Evidence | None = None
    changed_to_resolved_ms: float | None = None
    spent: Spent = Spent()
    baselines: dict[int, StoredBaseline] = {}
    """Per leaf of the present stage its baseline, so that a restart measures from the same frame."""
    stages: tuple[Stage, ...] = ()
    rearmed: Rearmed | None = None
    places: Places = ()


class WaitPage(Struct, frozen=True):
    """Some waits, newest first, of `total` that match."""

    waits: tuple[StoredWait, ...]
    total: int


class _OfState(Struct, frozen=True):
    state: WaitState
    waits: int
    judge_calls: int


class WaitTotals(Struct, frozen=True):
    """The number of waits in each state, and the sum of their judge calls."""

    by_state: dict[WaitState, int]
    judge_calls: int

    @property
    def live(self) -> int:
        return self.by_state.get(WaitState.WATCHING, 0)

    @property
    def ended(self) -> int:
        return sum(self.by_state.values()) - self.live


_WAIT = RowCodec(StoredWait, fixed=("wait_id", "created", "rearmed"))
_SQL = load("waits", _WAIT)
ANY_WAIT = WaitFilter()


def _bind_wait(wait: StoredWait) -> Row:
    return {**_WAIT.bind(wait), "words": words_of_wait(wait.wait_id, wait.spec, wait.display, wait.verdict)}


class WaitTable(Table):
    """The table `wait_jobs`."""

    def insert(self, wait: StoredWait) -> None:
        """Keep a new wait. Raises: Conflict when its id exists already."""
        self._database.write(_SQL["insert"], _bind_wait(wait))

    def update(self, wait: StoredWait) -> None:
        """Replace all but id and creation of a wait that is watching; the new state may be any. Raises: Conflict
        (naming the state) when it has ended; NotFound.
        """
        if self._database.write(_SQL["update_watching"], _bind_wait(wait)) == 0:
            found = self.get(wait.wait_id)
            raise Conflict(f"wait {wait.wait_id} has ended: {found.state}", state=str(found.state))

    def get(self, wait_id: str) -> StoredWait:
        """Return the wait with exactly this id. Raises: NotFound."""
        found = self._read_first(_WAIT, _SQL["get"], {"wait_id": wait_id})
        if found is None:
            raise _not_found(wait_id)
        return found

    def find(self, part: str) -> StoredWait:
        """Return the one wait with an id that is, begins with or ends with `part`. Raises: NotFound; InvalidRequest if
        several match.
        """
        if not part:
            raise InvalidRequest("an empty text is no wait id")
        unknown = _not_found(part)
        return self._find_named(_WAIT, _SQL, "several waits", part, unknown)

    def newest(
        self,
        states: tuple[WaitState, ...],
        limit: int,
        of: OwnerFilter = EVERYONE,
        filters: WaitFilter = ANY_WAIT,
        offset: int = 0,
    ) -> WaitPage:
        """Return the waits of `of` in `states` (empty: any) that match `filters`, newest first: one page."""
        bindings: Row = {
            "states": json_list(states or tuple(WaitState)),
            **of.to_bindings(),
            **msgspec.structs.asdict(filters),
            "words": self._wanted_words(filters.text),
        }
        found = [row["seq"] for row in self._database.read(_SQL["matching"], bindings)]
        page = msgspec.json.encode(found[offset : offset + limit]).decode()
        rows = self._database.read(_SQL["newest"], {"page": page})
        return WaitPage(tuple(map(_WAIT.read, rows)), len(found))

    def _wanted_words(self, text: str) -> str:
        words = fold_search_words(text).split()
        tasks = self._database.read(_TASK_SQL["names"]) if words else []
        names = {str(task["task_id"]): fold_search_words(str(task["name"])) for task in tasks}
        wanted = [{"word": one, "tasks": [key for key, name in names.items() if f" {one}" in name]} for one in words]
        return msgspec.json.encode(wanted).decode()

    def facets(self, states: tuple[WaitState, ...], of: OwnerFilter = EVERYONE) -> WaitFacets:
        """Return the displays, tasks and judges of the waits of `of` in `states`."""
        (row,) = self._database.read(
            _SQL["facets"], {"states": json_list(states or tuple(WaitState)), **of.to_bindings()}
        )
        found = {name: sorted(filter(None, decode_json(str(values)))) for name, values in row.items()}
        return convert(found, WaitFacets)

    def live(self) -> tuple[StoredWait, ...]:
        """Return every watching wait, oldest first: a starting supervisor arms these again."""
        return self._read_all(_WAIT, _SQL["live"])

    def of_task(self, task_id: str, limit: int) -> tuple[StoredWait, ...]:
        """Return the waits of a task, live ones first, then newest first, at most `limit`."""
        return self._read_all(_WAIT, _SQL["of_task"], {"task_id": task_id, "limit": limit})

    def spent_of_task(self, task_id: str) -> Spent:
        return convert(self._database.read(_SQL["spent_of_task"], {"task_id": task_id})[0], Spent)

    def totals(self) -> WaitTotals:
        found = convert(self._database.read(_SQL["totals"]), list[_OfState])
        return WaitTotals({one.state: one.waits for one in found}, sum(one.judge_calls for one in found))

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete waits that ended before and have neither evaluations nor evidence left; return how many."""
        return self._database.write(_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})


def _not_found(wait_id: str) -> NotFound:
    return NotFound(f"no wait {wait_id}", hint="acud wait list --all shows every kept one", wait_id=wait_id)


class ImageTable(Table):
    """The table `wait_images`."""

    def keep(self, digest: str, png: bytes, utc_s: float) -> None:
        """Store a picture, or note that a wait uses it again."""
        self._database.write(_IMAGES_SQL["keep"], {"digest": digest, "png": png, "utc_s": utc_s})

    def get(self, digest: str) -> bytes | None:
        rows = self._database.read(_IMAGES_SQL["get"], {"digest": digest})
        found = rows[0]["png"] if rows else None
        return found if isinstance(found, bytes) else None

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete pictures that no live wait searches for and that were not used since; return how many."""
        return self._database.write(_IMAGES_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})


class EvaluationTable(Table):
    """The table `evaluations`."""

    def add(self, wait_id: str, evaluation: Evaluation) -> None:
        """Keep one evaluation. Raises: Conflict when the wait is not in the store."""
        self._database.write(_EVALUATIONS_SQL["insert"], {"wait_id": wait_id, **_EVALUATION.bind(evaluation)})

    def newest(self, wait_id: str, limit: int, before: int = 0) -> tuple[Evaluation, ...]:
        """Return the newest `limit` evaluations of a wait (`before` that number), oldest of them first."""
        wanted: Row = {"wait_id": wait_id, "limit": limit, "before": before}
        rows = self._database.read(_EVALUATIONS_SQL["newest"], wanted)
        return tuple(_EVALUATION.read(row) for row in reversed(rows))

    def count(self, wait_id: str) -> int:
        return int(self._database.read(_EVALUATIONS_SQL["count"], {"wait_id": wait_id})[0]["count(*)"] or 0)

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete evaluations made before; return how many."""
        return self._database.write(_EVALUATIONS_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})

    def trim_surplus(self, keep: int, limit: int = -1) -> int:
        """Delete all but the newest `keep` evaluations; return how many."""
        return self._database.write(_EVALUATIONS_SQL["trim_surplus"], {"keep": keep, "limit": limit})

    def trim_of_waits(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete evaluations of waits that ended before; return how many."""
        return self._database.write(
            _EVALUATIONS_SQL["trim_of_old_waits"], {"before_utc_s": before_utc_s, "limit": limit}
        )


MOST_PICTURES = 64
"""Small pictures of one wait: half a megabyte of busy screens."""


class VerdictPictures(Table):
    """The table `verdict_pictures`: small copies of evaluated views. A picture goes with its last evaluation."""

    def keep(self, wait_id: str, digest: str, jpeg: bytes, utc_s: float) -> None:
        """Keep a picture that an evaluation of the wait is about to name. Of a wait that has its maximum, every second
        one of the older half is deleted.
        """
        kept = int(self._database.read(_PICTURES_SQL["count"], {"wait_id": wait_id})[0]["count(*)"] or 0)
        if kept >= MOST_PICTURES:
            self._database.write(_PICTURES_SQL["thin"], {"wait_id": wait_id, "older": kept // 2})
        self._database.write(_PICTURES_SQL["keep"], {"digest": digest, "jpeg": jpeg, "utc_s": utc_s})

    def get(self, wait_id: str, number: int) -> bytes | None:
        """Return the picture of the wait's evaluation with that number, None where none is kept."""
        rows = self._database.read(_PICTURES_SQL["get"], {"wait_id": wait_id, "number": number})
        found = rows[0]["jpeg"] if rows else None
        return found if isinstance(found, bytes) else None

    def trim(self, max_bytes: int, limit: int = -1) -> int:
        """Delete the oldest pictures over `max_bytes`, at most `limit`; return how many evaluations lost theirs."""
        return self._database.write(_PICTURES_SQL["over_size"], {"max_bytes": max_bytes, "limit": limit})


class TaskBudget(Struct, frozen=True):
    """The agent of a task, and the budget of its waits."""

    agent_id: str
    budget: Budget


_TASK_BUDGET = RowCodec(TaskBudget)


class TaskBudgets(Table):
    """Reads the budgets of tasks."""

    def of(self, task_id: str) -> TaskBudget | None:
        """Return the budget of the task with exactly this id, or None when it is gone."""
        return self._read_first(_TASK_BUDGET, _TASK_SQL["get"], {"task_id": task_id})


_USAGE_ROW = RowCodec(UsageRow)


class UsageEntry(Struct, frozen=True):
    """One answer of a model outside evaluations; None is an unknown value."""

    utc_s: float
    purpose: Purpose
    judge: str
    model: str = ""
    task_id: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


_USAGE_ENTRY = RowCodec(UsageEntry)
_USAGE_SQL = load("usage", _USAGE_ENTRY)


class UsageTable(Table):
    """The table `usage`, reported together with `evaluations`."""

    def add(self, entry: UsageEntry) -> None:
        self._database.write(_USAGE_SQL["insert"], _USAGE_ENTRY.bind(entry))

    def cost_usd_since(self, since_utc_s: float) -> float | None:
        """Return the cost since then; None when nothing kept has a known price."""
        found = self._database.read(_USAGE_SQL["cost_since"], {"since_utc_s": since_utc_s})[0]["cost_usd"]
        return None if found is None else float(found)

    def rows(self, since_utc_s: float, task_id: str) -> tuple[UsageRow, ...]:
        """Return the sums by day, purpose, judge, model and task, newest day first; `task_id` "": of all."""
        return self._read_all(_USAGE_ROW, _USAGE_SQL["rows"], {"since_utc_s": since_utc_s, "task_id": task_id})

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete entries made before; return how many."""
        return self._database.write(_USAGE_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})
