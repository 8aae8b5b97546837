"""The store: every table group over one connection, and the turn they share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final

import apsw

from acud.config import StoreSettings
from acud.store.connection import Database
from acud.store.damaged_log import RescuedLog
from acud.store.displays import DisplayTable, TakeoverTable
from acud.store.events import EventTable
from acud.store.evidence import EvidenceFiles
from acud.store.outbox import Outbox
from acud.store.requests import RequestTable
from acud.store.retention import FreePages
from acud.store.usage import UsageTable
from acud.store.waits import EvaluationTable, TaskBudgets, WaitTable
from acud.store.web import WebPasses


class Store:
    """The database of one supervisor, its only owner and its only connection. Use in `with`, from one thread.

    Mutations of one loop turn share a transaction that begins by itself. The supervisor wraps each mutation in
    `savepoint()` and calls `commit_turn()` in `Loop.after_turn`, before replies and events leave. When that raises
    StoreUnavailable nothing of the turn was kept: answer every request of the turn with the error.
    """

    def __init__(self, path: Path, evidence_directory: Path, settings: StoreSettings, now_utc_s: float) -> None:
        """Open or create the database at `path`, whose directory exists. Raises: StoreUnavailable (see `opening`)."""
        self.database: Final = Database(
            path, busy_timeout_s=settings.busy_timeout_s, now_utc_s=now_utc_s, keep_backups=settings.keep_backups
        )
        """What features make their tables of."""
        self.waits = WaitTable(self.database)
        self.evaluations = EvaluationTable(self.database)
        self.usage = UsageTable(self.database)
        self.events = EventTable(self.database)
        self.outbox = Outbox(self.database)
        self.requests = RequestTable(self.database)
        self.displays = DisplayTable(self.database)
        self.takeovers = TakeoverTable(self.database)
        self.task_budgets = TaskBudgets(self.database)
        self.free_pages = FreePages(self.database)
        self.web = WebPasses(self.database)
        self.evidence = EvidenceFiles(self.database, evidence_directory)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def in_turn(self) -> bool:
        """Whether something was written (or failed to be) since the last commit."""
        return self.database.in_turn

    @property
    def lost(self) -> RescuedLog | None:
        """What a damaged log lost before this start; None: nothing."""
        return self.database.lost

    @property
    def library_version(self) -> str:
        """The version of SQLite."""
        return apsw.sqlite_lib_version()

    def savepoint(self) -> AbstractContextManager[None]:
        """Keep all writes of the block or, when it raises, none of them; the turn's other writes stay. Nests.

        Raises: StoreUnavailable, also when an earlier write of this turn hit a storage fault.
        """
        return self.database.savepoint()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Commit at the end of the block; roll back when it raises. For what runs outside the loop (start-up)."""
        try:
            yield
        except BaseException:
            self.rollback_turn()
            raise
        self.commit_turn()

    def commit_turn(self) -> None:
        """Make the turn durable; when nothing was written, nothing happens.

        Raises: StoreUnavailable; then none of the turn's writes was kept, and the next write begins a new turn.
        """
        self.database.commit_turn()

    def rollback_turn(self) -> None:
        """Forget the turn's writes; harmless when there are none."""
        self.database.rollback_turn()

    def close(self) -> None:
        """Forget an uncommitted turn and close; closing twice is harmless."""
        self.database.close()
