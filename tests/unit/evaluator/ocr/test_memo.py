"""Words are known again by their pixels, with the letters that the engine saw in them."""

from itertools import pairwise

import numpy as np
import pytest

from acud.evaluator.ocr import memo as module
from acud.evaluator.ocr.engine import Reading
from acud.evaluator.ocr.memo import ReadingMemo, join_readings

WORD_PX, GAP_PX, HEIGHT_PX = 30, 10, 16


def line(*shades: int) -> np.ndarray:
    pixels = np.zeros((HEIGHT_PX, GAP_PX + len(shades) * (WORD_PX + GAP_PX), 3), np.uint8)
    for place, shade in enumerate(shades):
        left = GAP_PX + place * (WORD_PX + GAP_PX)
        pixels[3:12, left : left + WORD_PX] = shade
    return pixels


def reading(*words: str) -> Reading:
    middles = [GAP_PX + place * (WORD_PX + GAP_PX) + WORD_PX / 2 for place in range(len(words))]
    between = [(left + right) / 2 for left, right in pairwise(middles)]
    found: list[float] = []
    for place, word in enumerate(words):
        found += [middles[place]] * len(word) + between[place : place + 1]
    return Reading(" ".join(words), 0.9, tuple(found))


def test_what_lies_between_known_words_is_to_be_read() -> None:
    memo = ReadingMemo()
    memo.learn(line(100, 120, 140), reading("get", "all", "files"))
    unread = memo.unread(line(100, 200, 140))
    assert ([one.text for one in unread.before], [one.text for one in unread.after]) == (["get"], ["files"])
    assert (unread.left, unread.right) == (45, 85)


def test_a_line_of_known_words_is_read_without_the_engine() -> None:
    memo = ReadingMemo()
    memo.learn(line(100, 120, 140), reading("get", "all", "files"))
    unread = memo.unread(line(140, 100))
    assert unread.left == unread.right
    assert join_readings(unread.before).text == "files get"
    assert join_readings(unread.before).confidence == pytest.approx(0.9)


def test_a_word_in_which_the_engine_saw_two_is_not_known_and_letters_go_where_they_stand() -> None:
    memo = ReadingMemo()
    memo.learn(line(100, 120), Reading("snake case !", 0.9, (15, 18, 20, 22, 24, 25, 26, 28, 30, 33, 50, 65)))
    unread = memo.unread(line(100, 120))
    assert (unread.left, [one.text for one in unread.after]) == (0, ["!"])
    memo.learn(line(150, 160), Reading("[6%]", 0.9, (25, 60, 65, 70)))
    assert [one.text for one in memo.unread(line(160, 150)).before] == ["6%]", "["]


def test_an_engine_that_cannot_tell_where_letters_stand_has_lines_remembered_alone() -> None:
    memo = ReadingMemo()
    memo.learn(line(100, 120), Reading("two words", 0.8))
    assert memo.recall(line(100, 120)) == Reading("two words", 0.8)
    assert memo.unread(line(100, 120)).right == line(100, 120).shape[1]


def test_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEPT_READINGS", 3)
    memo = ReadingMemo()
    for shade in (100, 110, 120):
        memo.learn(line(shade), Reading(str(shade), 1.0))
    memo.recall(line(100))
    memo.learn(line(130), Reading("130", 1.0))
    assert memo.recall(line(110)) is None
    assert memo.recall(line(100)) == Reading("100", 1.0)
