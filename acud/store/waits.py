"""The waits: one row each, changed only while it is watching."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from acud.clock import Instant
from acud.errors import AcudError, Conflict, InvalidRequest, NotFound
from acud.store import statements
from acud.store.connection import Database
from acud.store.owners import EVERYONE, Of, listed
from acud.store.rows import Row, RowCodec
from acud.types import Evidence, Spent, Verdict, WaitSpec, WaitState, unknown
from acud.waits.machine import StoredBaseline

_SQL = statements.load("waits")


class StoredWait(Struct, frozen=True):
    """A wait as it is kept; fields mean what they mean in `acud.types.WaitInfo`.

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
    """Per leaf the baseline it took, so that a restart measures from the same frame."""


class WaitPage(Struct, frozen=True):
    """Some waits, newest first, of `total` that match."""

    waits: tuple[StoredWait, ...]
    total: int


class _OfState(Struct, frozen=True):
    state: WaitState
    waits: int
    judge_calls: int


class WaitTotals(Struct, frozen=True):
    """How many waits are kept in each state, and the judge calls of them all."""

    by_state: dict[WaitState, int]
    judge_calls: int

    @property
    def live(self) -> int:
        """How many are watching."""
        return self.by_state.get(WaitState.WATCHING, 0)

    @property
    def ended(self) -> int:
        """How many ended ones are kept."""
        return sum(self.by_state.values()) - self.live


_CODEC = RowCodec(StoredWait)


class Waits:
    """The table `wait_jobs`. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def insert(self, wait: StoredWait) -> None:
        """Keep a new wait. Raises: Conflict when its id is there already."""
        self._database.write(_SQL["insert"], _CODEC.bind(wait))

    def update(self, wait: StoredWait) -> None:
        """Replace all but id and creation of a wait that is watching; the new state may be any.

        Raises: Conflict (naming the state) when it has ended; NotFound.
        """
        if self._database.write(_SQL["update_watching"], _CODEC.bind(wait)) == 0:
            found = self.get(wait.wait_id)
            raise Conflict(f"wait {wait.wait_id} has ended: {found.state}", state=str(found.state))

    def get(self, wait_id: str) -> StoredWait:
        """Return the wait with exactly this id. Raises: NotFound."""
        rows = self._database.read(_SQL["get"], {"wait_id": wait_id})
        if not rows:
            raise _not_found(wait_id)
        return _CODEC.read(rows[0])

    def find(self, beginning: str) -> StoredWait:
        """Return the one wait whose id is, or begins with, `beginning`. Raises: NotFound; InvalidRequest if several."""
        if not beginning:
            raise InvalidRequest("an empty text is no wait id")
        rows = self._database.read(_SQL["beginning"], {"beginning": beginning})
        if not rows:
            raise _not_found(beginning)
        if len(rows) > 1 and rows[0]["wait_id"] != beginning:
            raise _ambiguous(beginning, rows)
        return _CODEC.read(rows[0])

    def newest(self, states: tuple[WaitState, ...], limit: int, of: Of = EVERYONE) -> WaitPage:
        """Return the waits in `states` (empty: in any), newest first, at most `limit`; `of` some alone."""
        wanted: Row = {"states": listed(states or tuple(WaitState)), **of.bound()}
        rows = self._database.read(_SQL["newest"], {**wanted, "limit": limit})
        total = self._database.read(_SQL["count"], wanted)[0]["count(*)"]
        return WaitPage(tuple(map(_CODEC.read, rows)), int(total or 0))

    def live(self) -> tuple[StoredWait, ...]:
        """Return every watching wait, oldest first: what a starting supervisor arms again."""
        return tuple(map(_CODEC.read, self._database.read(_SQL["live"])))

    def of_task(self, task_id: str, limit: int) -> tuple[StoredWait, ...]:
        """Return the waits of a task, live ones first, then newest first, at most `limit`."""
        rows = self._database.read(_SQL["of_task"], {"task_id": task_id, "limit": limit})
        return tuple(map(_CODEC.read, rows))

    def spent_of_task(self, task_id: str) -> Spent:
        """Add up what the kept waits of a task spent."""
        return msgspec.convert(self._database.read(_SQL["spent_of_task"], {"task_id": task_id})[0], Spent)

    def totals(self) -> WaitTotals:
        """Return the counts that `status` shows."""
        found = msgspec.convert(self._database.read(_SQL["totals"]), list[_OfState])
        return WaitTotals({one.state: one.waits for one in found}, sum(one.judge_calls for one in found))

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete waits that ended before and have neither evaluations nor evidence left; return how many."""
        return self._database.write(_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})


def _not_found(wait_id: str) -> AcudError:
    return NotFound(f"no wait {wait_id}", hint="acud wait list --all shows every kept one", wait_id=wait_id)


def _ambiguous(beginning: str, rows: list[Row]) -> AcudError:
    ids = [str(row["wait_id"]) for row in rows]
    return InvalidRequest(f"several waits begin with {beginning}: {', '.join(ids)}", hint="give more of the id")
