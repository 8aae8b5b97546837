"""What the commentary said."""

from __future__ import annotations

from msgspec import Struct

from acud.analysis.nouns import HISTORY_KEPT, AnalysisResult
from acud.store import statements
from acud.store.connection import Database
from acud.store.rows import RowCodec

_SQL = statements.load("analyses")
_CODEC = RowCodec(AnalysisResult)


class Inputs(Struct, frozen=True):
    """Which inputs: the newest number of the feed, the commentary's own words left out, and of sense."""

    heard: int = 0
    seen: int = 0


_INPUTS = RowCodec(Inputs)


class Analyses:
    """The table `analyses`, a ring of `HISTORY_KEPT`. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, result: AnalysisResult, inputs: Inputs) -> int:
        """Keep a result, which answers for `inputs`; return the number it got (its own is unread)."""
        row = _CODEC.bind(result) | _INPUTS.bind(inputs)
        number = int(self._database.write_returning(_SQL["add"], row)[0]["id"] or 0)
        self._database.write(_SQL["trim"], {"newest": number, "keep": HISTORY_KEPT})
        return number

    def newest(self, limit: int) -> tuple[AnalysisResult, ...]:
        """Return the newest results, newest first, at most `limit`."""
        return tuple(map(_CODEC.read, self._database.read(_SQL["newest"], {"limit": limit})))

    def last_pushed(self) -> str:
        """Return what was said into the feed last; "" for nothing kept."""
        rows = self._database.read(_SQL["last_pushed"])
        return str(rows[0]["analysis"]) if rows else ""

    def answered(self) -> Inputs:
        """Return the newest inputs that a kept result answers for."""
        return _INPUTS.read(self._database.read(_SQL["answered"])[0])
