"""The store: every table group over one connection, and the turn they share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType

from acud.config import StoreSettings
from acud.store.connection import Database, library_version
from acud.store.damaged_log import RescuedLog
from acud.store.displays import DisplayTable, SceneNumbers, TakeoverTable
from acud.store.events import EventTable, SenseEventTable
from acud.store.evidence import EvidenceFiles
from acud.store.model_runs import AgentRunTable, AnalysisTable, UsageTable
from acud.store.outbox import Outbox
from acud.store.recordings import RecordingTable, Timeline
from acud.store.requests import RequestTable
from acud.store.retention import DeletedTasks, FreePages
from acud.store.tasks import ActionTable, MessageFeed, TaskTable
from acud.store.waits import EvaluationTable, WaitTable
from acud.store.web import PushSubscriptions, WebPasses


class Store:
    """The database of one supervisor, its only owner and its only connection. Use in `with`, from one thread.

    Mutations of one loop turn share a transaction that begins by itself. The supervisor wraps each mutation in
    `savepoint()` and calls `commit_turn()` in `Loop.after_turn`, before replies and events leave. When that raises
    StoreUnavailable nothing of the turn was kept: answer every request of the turn with the error.
    """

    def __init__(self, path: Path, evidence_directory: Path, settings: StoreSettings, now_utc_s: float) -> None:
        """Open or create the database at `path`, whose directory exists. Raises: StoreUnavailable (see `opening`)."""
        self._database = Database(
            path, busy_timeout_s=settings.busy_timeout_s, now_utc_s=now_utc_s, keep_backups=settings.keep_backups
        )
        self.waits = WaitTable(self._database)
        self.evaluations = EvaluationTable(self._database)
        self.usage = UsageTable(self._database)
        self.events = EventTable(self._database)
        self.outbox = Outbox(self._database)
        self.requests = RequestTable(self._database)
        self.displays = DisplayTable(self._database)
        self.takeovers = TakeoverTable(self._database)
        self.scene_numbers = SceneNumbers(self._database)
        self.tasks = TaskTable(self._database)
        self.deleted_tasks = DeletedTasks(self._database)
        self.actions = ActionTable(self._database)
        self.agent_runs = AgentRunTable(self._database)
        self.feed = MessageFeed(self._database)
        self.sense = SenseEventTable(self._database)
        self.analyses = AnalysisTable(self._database)
        self.recordings = RecordingTable(self._database)
        self.timeline = Timeline(self._database)
        self.free_pages = FreePages(self._database)
        self.web = WebPasses(self._database)
        self.push = PushSubscriptions(self._database)
        self.evidence = EvidenceFiles(self._database, evidence_directory)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def in_turn(self) -> bool:
        """Whether something was written (or failed to be) since the last commit."""
        return self._database.in_turn

    @property
    def lost(self) -> RescuedLog | None:
        """What a damaged log lost before this start; None: nothing."""
        return self._database.lost

    @property
    def library_version(self) -> str:
        """The version of SQLite."""
        return library_version()

    def savepoint(self) -> AbstractContextManager[None]:
        """Keep all writes of the block or, when it raises, none of them; the turn's other writes stay. Nests.

        Raises: StoreUnavailable, also when an earlier write of this turn hit a storage fault.
        """
        return self._database.savepoint()

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
        self._database.commit_turn()

    def rollback_turn(self) -> None:
        """Forget the turn's writes; harmless when there are none."""
        self._database.rollback_turn()

    def close(self) -> None:
        """Forget an uncommitted turn and close; closing twice is harmless."""
        self._database.close()
