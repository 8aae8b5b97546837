"""The runs of the agent: one row each, with its steps."""

from __future__ import annotations

from acud.agent.nouns import RunInfo
from acud.errors import InvalidRequest, NotFound
from acud.store import statements
from acud.store.connection import Database
from acud.store.rows import RowCodec

_SQL = statements.load("agent_runs")
_CODEC = RowCodec(RunInfo)


class AgentRuns:
    """The table `agent_runs`. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def insert(self, run: RunInfo) -> None:
        """Keep a new run. Raises: Conflict when its id is there already."""
        self._database.write(_SQL["insert"], _CODEC.bind(run))

    def update(self, run: RunInfo) -> None:
        """Replace what can change of a run; one that retention took is left alone."""
        self._database.write(_SQL["update"], _CODEC.bind(run))

    def find(self, beginning: str) -> RunInfo:
        """Return the one run whose id is, or begins with, `beginning`. Raises: NotFound; InvalidRequest if several."""
        rows = self._database.read(_SQL["beginning"], {"beginning": beginning}) if beginning else []
        if not rows:
            raise NotFound(f"no run {beginning}", hint="acud agent list shows the newest ones", run_id=beginning)
        if len(rows) > 1 and rows[0]["run_id"] != beginning:
            ids = ", ".join(str(row["run_id"]) for row in rows)
            raise InvalidRequest(f"several runs begin with {beginning}: {ids}", hint="give more of the id")
        return _CODEC.read(rows[0])

    def running(self) -> tuple[RunInfo, ...]:
        """Return the runs that had not ended when they were written last, oldest first."""
        return tuple(map(_CODEC.read, self._database.read(_SQL["running"])))

    def newest(self, limit: int, task_id: str = "") -> tuple[RunInfo, ...]:
        """Return the newest runs (of one task), newest first."""
        rows = self._database.read(_SQL["newest"], {"limit": limit, "task_id": task_id})
        return tuple(map(_CODEC.read, rows))

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete runs that ended before; return how many."""
        return self._database.write(_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})
