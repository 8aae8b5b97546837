"""What models were asked for: runs of the agent, commentary, and what each judge and model cost."""

from __future__ import annotations

from msgspec import Struct

from acud.errors import NotFound
from acud.protocol.requests.daemon import Purpose, UsageRow
from acud.store.connection import Table
from acud.store.rows import RowCodec, load
from acud.types.agent_runs import RunInfo

_RUNS_SQL = load("agent_runs")
_RUN = RowCodec(RunInfo)
_USAGE_SQL = load("usage")
_USAGE_ROW = RowCodec(UsageRow)


class AgentRunTable(Table):
    """The table `agent_runs`."""

    def insert(self, run: RunInfo) -> None:
        """Keep a new run. Raises: Conflict when its id is there already."""
        self._database.write(_RUNS_SQL["insert"], _RUN.bind(run))

    def update(self, run: RunInfo) -> None:
        """Replace what can change of a run; one that retention took is left alone."""
        self._database.write(_RUNS_SQL["update"], _RUN.bind(run))

    def find(self, beginning: str) -> RunInfo:
        """Return the one run whose id is, or begins with, `beginning`. Raises: NotFound; InvalidRequest if several."""
        unknown = NotFound(f"no run {beginning}", hint="acud agent list shows the newest ones", run_id=beginning)
        return self._beginning(_RUN, _RUNS_SQL["beginning"], "several runs", beginning, unknown)

    def running(self) -> tuple[RunInfo, ...]:
        """Return the runs that had not ended when they were written last, oldest first."""
        return self._all(_RUN, _RUNS_SQL["running"])

    def newest(self, limit: int, task_id: str = "") -> tuple[RunInfo, ...]:
        """Return the newest runs (of one task), newest first."""
        return self._all(_RUN, _RUNS_SQL["newest"], {"limit": limit, "task_id": task_id})

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete runs that ended before; return how many."""
        return self._database.write(_RUNS_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})


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
        self._database.write(_USAGE_SQL["insert"], _USAGE_ENTRY.bind(entry))

    def cost_usd_since(self, since_utc_s: float) -> float | None:
        """Return what was spent since then; None when nothing kept has a known price."""
        found = self._database.read(_USAGE_SQL["cost_since"], {"since_utc_s": since_utc_s})[0]["cost_usd"]
        return None if found is None else float(found)

    def rows(self, since_utc_s: float, task_id: str) -> tuple[UsageRow, ...]:
        """Add up since then by day, purpose, judge, model and task, newest day first; `task_id` "": of all."""
        return self._all(_USAGE_ROW, _USAGE_SQL["rows"], {"since_utc_s": since_utc_s, "task_id": task_id})

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete entries made before; return how many."""
        return self._database.write(_USAGE_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})
