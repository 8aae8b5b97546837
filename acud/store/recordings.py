"""The recordings: one row each; the files lie under `$ACU_HOME/recordings`, and are the supervisor's business."""

from __future__ import annotations

from acud.errors import InvalidRequest, NotFound
from acud.protocol.recordings import RecordingInfo
from acud.store import statements
from acud.store.connection import Database
from acud.store.owners import EVERYONE, Of
from acud.store.rows import Row, RowCodec

_SQL = statements.load("recordings")
_CODEC = RowCodec(RecordingInfo)
_OLDEST = 100


class Recordings:
    """The table `recordings`. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def insert(self, recording: RecordingInfo) -> None:
        """Keep a new recording. Raises: Conflict when its id is there already."""
        self._database.write(_SQL["insert"], _CODEC.bind(recording))

    def update(self, recording: RecordingInfo) -> None:
        """Replace what can change of a recording; one that was deleted is left alone."""
        self._database.write(_SQL["update"], _CODEC.bind(recording))

    def delete(self, recording_id: str) -> None:
        """Forget a recording; harmless when it is not there."""
        self._database.write(_SQL["delete"], {"recording_id": recording_id})

    def find(self, beginning: str) -> RecordingInfo:
        """Return the one whose id is, or begins with, `beginning`. Raises: NotFound; InvalidRequest if several."""
        rows = self._database.read(_SQL["beginning"], {"beginning": beginning}) if beginning else []
        if not rows:
            raise NotFound(f"no recording {beginning[:80]}", hint="acud record list; old ones may have been deleted")
        if len(rows) > 1 and rows[0]["recording_id"] != beginning:
            ids = ", ".join(str(row["recording_id"]) for row in rows)
            raise InvalidRequest(f"several recordings begin with {beginning}: {ids}", hint="give more of the id")
        return _CODEC.read(rows[0])

    def unfinished(self) -> tuple[RecordingInfo, ...]:
        """Return those that are being made, oldest first."""
        return self._all("unfinished", {})

    def newest(self, limit: int, of: Of = EVERYONE) -> tuple[RecordingInfo, ...]:
        """Return the newest (`of` some alone), newest first."""
        return self._all("newest", {"limit": limit, **of.bound()})

    def of_task(self, task_id: str) -> tuple[RecordingInfo, ...]:
        """Return every recording of a task, oldest first."""
        return self._all("of_task", {"task_id": task_id})

    def ids(self) -> frozenset[str]:
        """Return every id."""
        return frozenset(str(row["recording_id"]) for row in self._database.read(_SQL["ids"]))

    def ended_bytes(self) -> int:
        """Return the size of all that are not being made."""
        return int(self._database.read(_SQL["ended_bytes"])[0]["bytes"] or 0)

    def too_old(self, before_utc_s: float) -> tuple[RecordingInfo, ...]:
        """Return those that ended before."""
        return self._all("too_old", {"before_utc_s": before_utc_s})

    def oldest(self) -> tuple[RecordingInfo, ...]:
        """Return those that ended first, at most 100."""
        return self._all("oldest", {"limit": _OLDEST})

    def _all(self, block: str, bindings: Row) -> tuple[RecordingInfo, ...]:
        return tuple(map(_CODEC.read, self._database.read(_SQL[block], bindings)))
