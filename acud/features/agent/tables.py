"""Runs of the agent."""

from __future__ import annotations

from pathlib import Path

from acud.errors import NotFound
from acud.store.connection import Table
from acud.store.rows import RowCodec, load
from acud.types.agent_runs import RunInfo

_SQL = load("tables", Path(__file__).parent)
_RUN = RowCodec(RunInfo)


class AgentRunTable(Table):
    """The table `agent_runs`."""

    def insert(self, run: RunInfo) -> None:
        """Keep a new run. Raises: Conflict when its id is there already."""
        self._database.write(_SQL["insert"], _RUN.bind(run))

    def update(self, run: RunInfo) -> None:
        """Replace what can change of a run; one that retention took is left alone."""
        self._database.write(_SQL["update"], _RUN.bind(run))

    def find(self, beginning: str) -> RunInfo:
        """Return the one run whose id is, or begins with, `beginning`. Raises: NotFound; InvalidRequest if several."""
        unknown = NotFound(f"no run {beginning}", hint="acud agent list shows the newest ones", run_id=beginning)
        return self._beginning(_RUN, _SQL["beginning"], "several runs", beginning, unknown)

    def running(self) -> tuple[RunInfo, ...]:
        """Return the runs that had not ended when they were written last, oldest first."""
        return self._all(_RUN, _SQL["running"])

    def newest(self, limit: int, task_id: str = "") -> tuple[RunInfo, ...]:
        """Return the newest runs (of one task), newest first."""
        return self._all(_RUN, _SQL["newest"], {"limit": limit, "task_id": task_id})
