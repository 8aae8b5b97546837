"""The commentary's tables, each a ring of the newest: messages of the feed, sense events, analyses."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from acud.store.connection import Table
from acud.store.rows import Row, RowCodec, load
from acud.types.commentary import FEED_KEPT, HISTORY_KEPT, SENSE_KEPT, AnalysisResult, FeedItem, SenseEvent

_FEED_ITEM = RowCodec(FeedItem, found=("id",))
_SENSE_EVENT = RowCodec(SenseEvent, found=("id",))
_ANALYSIS = RowCodec(AnalysisResult, found=("id",))


class _Ring(Table):
    def _add_row(self, table: str, row: Row, keep: int) -> int:
        """Add a row, delete all but the newest `keep`, and return its number."""
        number = int(self._database.write_returning(_SQL[f"{table}_add"], row)[0]["id"] or 0)
        self._database.write(_SQL[f"{table}_trim"], {"newest": number, "keep": keep})
        return number


class MessageFeed(_Ring):
    """The table `feed`, a ring of `FEED_KEPT`."""

    def add(self, item: FeedItem) -> int:
        """Add a message (its own number is ignored) and return its number."""
        return self._add_row("feed", _FEED_ITEM.bind(item), FEED_KEPT)

    def above(self, after: int) -> tuple[FeedItem, ...]:
        """Return the stored messages with a number above `after`, oldest first."""
        return self._read_all(_FEED_ITEM, _SQL["feed_above"], {"after": after})

    def count(self) -> int:
        return self._read_number(_SQL["feed_count"])

    def newest_of_others(self, source: str) -> int:
        """Return the newest number of a stored message that is not from `source`; 0: there is none."""
        return self._read_number(_SQL["feed_newest_of_others"], {"source": source})


class SenseEventTable(_Ring):
    """The table `sense`, a ring of `SENSE_KEPT`."""

    def add(self, event: SenseEvent) -> int:
        """Add an event (its own number is ignored) and return its number."""
        return self._add_row("sense", _SENSE_EVENT.bind(event), SENSE_KEPT)

    def above(self, after: int, *, pictures: bool) -> tuple[SenseEvent, ...]:
        """Return the stored events with a number above `after`, oldest first; without `pictures`, `data` of `roi` and
        `diff` is left out.
        """
        block = "sense_above" if pictures else "sense_above_without_pictures"
        return self._read_all(_SENSE_EVENT, _SQL[block], {"after": after})

    def words(self) -> tuple[SenseEvent, ...]:
        """Return every stored event, oldest first, with only its words and its meta."""
        return self._read_all(_SENSE_EVENT, _SQL["sense_words"])

    def count(self) -> int:
        return self._read_number(_SQL["sense_count"])

    def newest(self) -> int:
        """Return the newest number; 0 in an empty table."""
        return self._read_number(_SQL["sense_newest"])


class AnalysisInputs(Struct, frozen=True):
    """The newest numbers of the feed, without the commentary's own words, and of sense."""

    heard: int = 0
    seen: int = 0


_INPUTS = RowCodec(AnalysisInputs)
_SQL = load("tables", _FEED_ITEM, _SENSE_EVENT, _ANALYSIS, _INPUTS, folder=Path(__file__).parent)


class AnalysisTable(_Ring):
    """The table `analyses`, a ring of `HISTORY_KEPT`."""

    def add(self, result: AnalysisResult, inputs: AnalysisInputs) -> int:
        """Add the result of `inputs` (its own number is ignored) and return its number."""
        return self._add_row("analyses", _ANALYSIS.bind(result) | _INPUTS.bind(inputs), HISTORY_KEPT)

    def newest(self, limit: int) -> tuple[AnalysisResult, ...]:
        """Return the newest results, newest first, at most `limit`."""
        return self._read_all(_ANALYSIS, _SQL["analyses_newest"], {"limit": limit})

    def last_pushed(self) -> str:
        """Return the text that was last pushed to the feed, or ""."""
        rows = self._database.read(_SQL["analyses_last_pushed"])
        return str(rows[0]["analysis"]) if rows else ""

    def find_answered(self) -> AnalysisInputs:
        """Return the newest inputs with a stored result."""
        return _INPUTS.read(self._database.read(_SQL["analyses_answered"])[0])
