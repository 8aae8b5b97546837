"""What judges said of each wait, frame by frame."""

from __future__ import annotations

from acud.protocol.requests.waits import Evaluation
from acud.store import statements
from acud.store.connection import Database
from acud.store.rows import RowCodec

_SQL = statements.load("evaluations")
_CODEC = RowCodec(Evaluation)


class Evaluations:
    """The table `evaluations`. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, wait_id: str, evaluation: Evaluation) -> None:
        """Keep one evaluation. Raises: Conflict when the wait is not in the store."""
        self._database.write(_SQL["insert"], {"wait_id": wait_id, **_CODEC.bind(evaluation)})

    def newest(self, wait_id: str, limit: int) -> tuple[Evaluation, ...]:
        """Return the newest `limit` evaluations of a wait, oldest of them first."""
        rows = self._database.read(_SQL["newest"], {"wait_id": wait_id, "limit": limit})
        return tuple(_CODEC.read(row) for row in reversed(rows))

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete evaluations made before; return how many."""
        return self._database.write(_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})

    def trim_surplus(self, keep: int, limit: int = -1) -> int:
        """Delete all but the newest `keep` evaluations; return how many."""
        return self._database.write(_SQL["trim_surplus"], {"keep": keep, "limit": limit})

    def trim_of_waits(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete evaluations of waits that ended before; return how many."""
        return self._database.write(_SQL["trim_of_old_waits"], {"before_utc_s": before_utc_s, "limit": limit})
