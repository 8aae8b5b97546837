"""What was seen: the newest sense events, with the pictures that came with them."""

from __future__ import annotations

from acud.analysis.nouns import SENSE_KEPT, SenseEvent
from acud.store import statements
from acud.store.connection import Database
from acud.store.rows import RowCodec

_SQL = statements.load("sense")
_CODEC = RowCodec(SenseEvent)


class Sense:
    """The table `sense`, a ring of `SENSE_KEPT`. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, event: SenseEvent) -> int:
        """Keep an event, forget what that pushes out of the ring, and return the number it got (its own is unread)."""
        number = int(self._database.write_returning(_SQL["add"], _CODEC.bind(event))[0]["id"] or 0)
        self._database.write(_SQL["trim"], {"newest": number, "keep": SENSE_KEPT})
        return number

    def above(self, after: int, *, pictures: bool) -> tuple[SenseEvent, ...]:
        """Return the kept events with a number above `after`, oldest first; without `pictures`, `data` of `roi` and
        `diff` is left out.
        """
        block = "above" if pictures else "above_without_pictures"
        return tuple(map(_CODEC.read, self._database.read(_SQL[block], {"after": after})))

    def words(self) -> tuple[SenseEvent, ...]:
        """Return every kept event, oldest first, with its words and its meta alone."""
        return tuple(map(_CODEC.read, self._database.read(_SQL["words"])))

    def count(self) -> int:
        """Return how many are kept."""
        return int(self._database.read(_SQL["count"])[0]["found"] or 0)

    def newest(self) -> int:
        """Return the newest number; 0: there is none."""
        return int(self._database.read(_SQL["newest"])[0]["found"] or 0)
