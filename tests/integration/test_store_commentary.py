"""The commentary's rings on a real file."""

from __future__ import annotations

from pathlib import Path

from acud.store.model_runs import AnalysisInputs
from acud.types.commentary import (
    FEED_KEPT,
    HISTORY_KEPT,
    SENSE_KEPT,
    AnalysisContext,
    AnalysisResult,
    FeedItem,
    SenseEvent,
    SenseMeta,
)
from tests.integration.store_support import open_store

RESULT = AnalysisResult(0, 5, "Reading.", AnalysisContext("Editor", 1, 2), True, "m", 12, 30, None, None)
PICTURE = {"data": "QUJD", "bbox": [1, 2, 3, 4], "thumb": True}


def test_rings_keep_the_newest_and_numbers_grow_over_restarts(tmp_path: Path) -> None:
    with open_store(tmp_path) as store, store.turn():
        for number in range(FEED_KEPT + 5):
            assert store.feed.add(FeedItem(0, f"t{number}", "normal", number)) == number + 1
        for number in range(SENSE_KEPT + 5):
            assert store.sense.add(SenseEvent(0, "text", number, number)) == number + 1
        for _ in range(HISTORY_KEPT + 5):
            store.analyses.add(RESULT, AnalysisInputs(3, 4))
    with open_store(tmp_path) as store:
        feed, sense = store.feed.above(0), store.sense.above(0, pictures=True)
        assert [item.id for item in feed] == list(range(6, FEED_KEPT + 6))
        assert [event.id for event in sense] == list(range(6, SENSE_KEPT + 6))
        assert (store.feed.count(), store.sense.count()) == (FEED_KEPT, SENSE_KEPT)
        assert [one.id for one in store.analyses.newest(50)] == list(range(HISTORY_KEPT + 5, 5, -1))
        assert store.analyses.answered() == AnalysisInputs(3, 4)
        with store.turn():
            assert store.feed.add(FeedItem(0, "next", "normal", 1)) == FEED_KEPT + 6


def test_what_goes_in_comes_out(tmp_path: Path) -> None:
    meta = SenseMeta(0.93, "Terminal", "~ — zsh", "HDMI-1")
    event = SenseEvent(0, "visual", 1, 2, "make: *** [all]", meta, PICTURE, {"data": "RA=="}, {"facts": ["a"]}, "acud")
    with open_store(tmp_path) as store, store.turn():
        store.sense.add(event)
        [whole], [bare], [words] = (
            store.sense.above(0, pictures=True),
            store.sense.above(0, pictures=False),
            store.sense.words(),
        )
        assert (whole.roi, whole.diff, whole.meta, whole.observation) == (
            PICTURE,
            {"data": "RA=="},
            meta,
            {"facts": ["a"]},
        )
        assert (bare.roi, bare.diff) == ({"bbox": [1, 2, 3, 4], "thumb": True}, {})
        assert (words.roi, words.diff, words.ocr) == (None, None, "make: *** [all]")
        store.analyses.add(RESULT, AnalysisInputs())
        [kept] = store.analyses.newest(1)
        assert (kept.analysis, kept.pushed, kept.tokensOut, kept.cost_usd) == ("Reading.", True, None, None)
        assert store.analyses.last_pushed() == "Reading."


def test_own_words_are_not_among_the_newest_of_others(tmp_path: Path) -> None:
    with open_store(tmp_path) as store, store.turn():
        store.feed.add(FeedItem(0, "heard", "normal", 1))
        store.feed.add(FeedItem(0, "said", "normal", 2, "agent"))
        assert store.feed.newest_of_others("agent") == 1
