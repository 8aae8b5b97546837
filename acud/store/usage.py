"""What judges and models cost: the evaluations of waits, and what was asked for anything else."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.daemon import Purpose, UsageRow
from acud.store import statements
from acud.store.connection import Database
from acud.store.rows import RowCodec

_SQL = statements.load("usage")
_ROW = RowCodec(UsageRow)


class UsageEntry(Struct, frozen=True):
    """One answer of a model that no evaluation tells of; None is what is not known."""

    utc_s: float
    purpose: Purpose
    judge: str
    model: str = ""
    task_id: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


_ENTRY = RowCodec(UsageEntry)


class Usage:
    """The table `usage`, told together with `evaluations`. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, entry: UsageEntry) -> None:
        """Keep one entry."""
        self._database.write(_SQL["insert"], _ENTRY.bind(entry))

    def cost_usd_since(self, since_utc_s: float) -> float | None:
        """Return what was spent since then; None when nothing kept has a known price."""
        found = self._database.read(_SQL["cost_since"], {"since_utc_s": since_utc_s})[0]["cost_usd"]
        return None if found is None else float(found)

    def rows(self, since_utc_s: float, task_id: str) -> tuple[UsageRow, ...]:
        """Add up since then by day, purpose, judge, model and task, newest day first; `task_id` "": of all."""
        found = self._database.read(_SQL["rows"], {"since_utc_s": since_utc_s, "task_id": task_id})
        return tuple(map(_ROW.read, found))

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete entries made before; return how many."""
        return self._database.write(_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})
