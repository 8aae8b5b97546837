"""The wakes: one row each, written with what they tell of and kept until long after an agent saw it."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from acud.errors import InvalidRequest, NotFound
from acud.store import statements
from acud.store.connection import Database
from acud.store.rows import Row, RowCodec
from acud.types import WakeInfo, WakeState

_SQL = statements.load("outbox")
_CODEC = RowCodec(WakeInfo)


class WakePage(Struct, frozen=True):
    """Some wakes, newest first, of `total` that match; `counts` by state over all."""

    wakes: tuple[WakeInfo, ...]
    total: int
    counts: dict[str, int]


class Outbox:
    """The table `outbox`. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def insert(self, wake: WakeInfo) -> None:
        """Keep a new wake. Raises: Conflict when its id is there already, or its wait has one."""
        self._database.write(_SQL["insert"], _CODEC.bind(wake))

    def update(self, wake: WakeInfo) -> None:
        """Replace what can change of a kept wake; one that retention took is left alone."""
        self._database.write(_SQL["update"], _CODEC.bind(wake))

    def find(self, beginning: str) -> WakeInfo:
        """Return the one wake whose id is, or begins with, `beginning`. Raises: NotFound; InvalidRequest if several."""
        rows = self._database.read(_SQL["beginning"], {"beginning": beginning}) if beginning else []
        if not rows:
            raise NotFound(f"no wake {beginning}", hint="acud wake list --all shows every kept one", wake_id=beginning)
        if len(rows) > 1 and rows[0]["wake_id"] != beginning:
            ids = ", ".join(str(row["wake_id"]) for row in rows)
            raise InvalidRequest(f"several wakes begin with {beginning}: {ids}", hint="give more of the id")
        return _CODEC.read(rows[0])

    def of_wait(self, wait_id: str) -> WakeInfo | None:
        """Return the wake that tells of the wait, None when there is none."""
        rows = self._database.read(_SQL["of_wait"], {"wait_id": wait_id})
        return _CODEC.read(rows[0]) if rows else None

    def of_run(self, run_id: str) -> WakeInfo | None:
        """Return the wake that tells of the agent's run, None when there is none."""
        rows = self._database.read(_SQL["of_run"], {"run_id": run_id})
        return _CODEC.read(rows[0]) if rows else None

    def open(self) -> tuple[WakeInfo, ...]:
        """Return every wake to which something will happen by itself, oldest first: what a new supervisor takes up."""
        return tuple(map(_CODEC.read, self._database.read(_SQL["open"])))

    def newest(self, states: tuple[WakeState, ...], limit: int, wait_id: str = "") -> WakePage:
        """Return the wakes in `states` (of one wait), newest first, at most `limit`."""
        bindings: Row = {"states": msgspec.json.encode(states).decode(), "limit": limit, "wait_id": wait_id}
        rows = self._database.read(_SQL["newest"], bindings)
        counts = self.counts(wait_id)
        total = sum(counts.get(state.value, 0) for state in states)
        return WakePage(tuple(map(_CODEC.read, rows)), total, counts)

    def counts(self, wait_id: str = "") -> dict[str, int]:
        """Return how many wakes are in each state."""
        rows = self._database.read(_SQL["counts"], {"wait_id": wait_id})
        return {str(row["state"]): int(row["found"] or 0) for row in rows}

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete wakes made before that no route is being tried for; return how many."""
        return self._database.write(_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})
