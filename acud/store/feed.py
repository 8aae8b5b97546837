"""The feed: the newest messages, whoever they are from."""

from __future__ import annotations

from acud.analysis.nouns import FEED_KEPT, FeedItem
from acud.store import statements
from acud.store.connection import Database
from acud.store.rows import RowCodec

_SQL = statements.load("feed")
_CODEC = RowCodec(FeedItem)


class Feed:
    """The table `feed`, a ring of `FEED_KEPT`. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, item: FeedItem) -> int:
        """Keep a message, forget what that pushes out of the ring, and return the number it got (its own is unread)."""
        number = int(self._database.write_returning(_SQL["add"], _CODEC.bind(item))[0]["id"] or 0)
        self._database.write(_SQL["trim"], {"newest": number, "keep": FEED_KEPT})
        return number

    def above(self, after: int) -> tuple[FeedItem, ...]:
        """Return the kept messages with a number above `after`, oldest first."""
        return tuple(map(_CODEC.read, self._database.read(_SQL["above"], {"after": after})))

    def count(self) -> int:
        """Return how many are kept."""
        return int(self._database.read(_SQL["count"])[0]["found"] or 0)

    def newest_of_others(self, source: str) -> int:
        """Return the newest number of a kept message that is not from `source`; 0: there is none."""
        return int(self._database.read(_SQL["newest_of_others"], {"source": source})[0]["found"] or 0)
