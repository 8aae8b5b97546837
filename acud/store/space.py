"""Free pages of the database file, given back to the file system a few at a time."""

from __future__ import annotations

from acud.store import statements
from acud.store.connection import Database

_SQL = statements.load("space")
_INCREMENTAL = 2  # sqlite.org/pragma.html#pragma_auto_vacuum
_SPARE_PAGES = 1000
"""4 MB stay free in the file: what is written next would only make it grow again."""


class Space:
    """What the file holds beyond its rows. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.shrinks = self._number("mode") == _INCREMENTAL
        """Whether free pages can be given back; a database that an early acud made cannot until `acud vacuum`."""

    def free_pages(self) -> int:
        """Return how many pages hold nothing."""
        return self._number("free")

    def give_back(self) -> bool:
        """Give back 200 free pages in this turn, where many are free; return whether more are left to give."""
        if not self.shrinks or self.free_pages() <= _SPARE_PAGES:
            return False
        self._database.write(_SQL["give_back"])
        return self.free_pages() > _SPARE_PAGES

    def _number(self, block: str) -> int:
        return int(next(iter(self._database.read(_SQL[block])[0].values())) or 0)
