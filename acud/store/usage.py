"""What each judge and model cost, where no evaluation of a wait says so."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.daemon import Purpose, UsageRow
from acud.store.connection import Table
from acud.store.rows import RowCodec, load

_SQL = load("usage")
_USAGE_ROW = RowCodec(UsageRow)


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


_USAGE_ENTRY = RowCodec(UsageEntry)


class UsageTable(Table):
    """The table `usage`, told together with `evaluations`."""

    def add(self, entry: UsageEntry) -> None:
        """Keep one entry."""
        self._database.write(_SQL["insert"], _USAGE_ENTRY.bind(entry))

    def cost_usd_since(self, since_utc_s: float) -> float | None:
        """Return what was spent since then; None when nothing kept has a known price."""
        found = self._database.read(_SQL["cost_since"], {"since_utc_s": since_utc_s})[0]["cost_usd"]
        return None if found is None else float(found)

    def rows(self, since_utc_s: float, task_id: str) -> tuple[UsageRow, ...]:
        """Add up since then by day, purpose, judge, model and task, newest day first; `task_id` "": of all."""
        return self._all(_USAGE_ROW, _SQL["rows"], {"since_utc_s": since_utc_s, "task_id": task_id})

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete entries made before; return how many."""
        return self._database.write(_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})
