"""The commentary's rings on a real file."""

from __future__ import annotations

from pathlib import Path

from acud.features.commentary.tables import AnalysisInputs, AnalysisTable, MessageFeed, SenseEventTable
from acud.types.commentary import (
    FEED_KEPT,
    HISTORY_KEPT,
    SENSE_KEPT,
    AnalysisContext,
    AnalysisResult,
    FeedItem,
    SenseEvent,
)
from tests.integration.store_support import open_store

RESULT = AnalysisResult(0, 5, "Reading.", AnalysisContext("Editor", 1, 2), True, "m", 12, 30, None, None)


def test_rings_keep_the_newest_and_numbers_grow_over_restarts(tmp_path: Path) -> None:
    with open_store(tmp_path) as store, store.turn():
        for number in range(FEED_KEPT + 5):
            assert MessageFeed(store).add(FeedItem(0, f"t{number}", "normal", number)) == number + 1
        for number in range(SENSE_KEPT + 5):
            assert SenseEventTable(store).add(SenseEvent(0, "text", number, number)) == number + 1
        for _ in range(HISTORY_KEPT + 5):
            AnalysisTable(store).add(RESULT, AnalysisInputs(3, 4))
    with open_store(tmp_path) as store:
        feed, sense = MessageFeed(store).above(0), SenseEventTable(store).above(0, pictures=True)
        assert [item.id for item in feed] == list(range(6, FEED_KEPT + 6))
        assert [event.id for event in sense] == list(range(6, SENSE_KEPT + 6))
        assert (MessageFeed(store).count(), SenseEventTable(store).count()) == (FEED_KEPT, SENSE_KEPT)
        assert [one.id for one in AnalysisTable(store).newest(50)] == list(range(HISTORY_KEPT + 5, 5, -1))
        assert AnalysisTable(store).find_answered() == AnalysisInputs(3, 4)
        with store.turn():
            assert MessageFeed(store).add(FeedItem(0, "next", "normal", 1)) == FEED_KEPT + 6


def test_own_words_are_not_among_the_newest_of_others(tmp_path: Path) -> None:
    with open_store(tmp_path) as store, store.turn():
        MessageFeed(store).add(FeedItem(0, "heard", "normal", 1))
        MessageFeed(store).add(FeedItem(0, "said", "normal", 2, "agent"))
        assert MessageFeed(store).newest_of_others("agent") == 1
