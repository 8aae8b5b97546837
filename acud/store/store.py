"""The store: every table group over one connection, and the turn they share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from acud.config import StoreSettings
from acud.store.connection import Database
from acud.store.displays import DisplayTable, TakeoverTable
from acud.store.events import EventTable
from acud.store.evidence import EvidenceFiles
from acud.store.outbox import Outbox
from acud.store.requests import RequestTable
from acud.store.retention import FreePages
from acud.store.waits import EvaluationTable, ImageTable, TaskBudgets, UsageTable, VerdictPictures, WaitTable
from acud.store.web import WebPasses


class Store(Database):
    """The database of one supervisor, its only owner and its only connection. Use in `with`, from one thread.

    Mutations of one loop turn share a transaction that begins by itself. The supervisor wraps each mutation in
    `savepoint()` and calls `commit_turn()` in `EventLoop.after_turn`, before replies and events leave. When that raises
    StoreUnavailable nothing of the turn was kept: answer every request of the turn with the error. Features make their
    own tables of it.
    """

    def __init__(self, path: Path, evidence_directory: Path, settings: StoreSettings, now_utc_s: float) -> None:
        """Open or create the database at `path`, in an existing directory. Raises: as `open_database`."""
        super().__init__(
            path, busy_timeout_s=settings.busy_timeout_s, now_utc_s=now_utc_s, keep_backups=settings.keep_backups
        )
        self.waits = WaitTable(self)
        self.images = ImageTable(self)
        self.evaluations = EvaluationTable(self)
        self.verdict_pictures = VerdictPictures(self)
        self.usage = UsageTable(self)
        self.events = EventTable(self)
        self.outbox = Outbox(self)
        self.requests = RequestTable(self)
        self.displays = DisplayTable(self)
        self.takeovers = TakeoverTable(self)
        self.task_budgets = TaskBudgets(self)
        self.free_pages = FreePages(self)
        self.web = WebPasses(self)
        self.evidence = EvidenceFiles(self, evidence_directory)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def library_version(self) -> str:
        return apsw.sqlite_lib_version()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Commit at the end of the block; roll back when it raises. For work outside the loop (start-up)."""
        try:
            yield
        except BaseException:
            self.rollback_turn()
            raise
        self.commit_turn()
