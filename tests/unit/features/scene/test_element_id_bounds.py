"""What bounds the matching: a screen made to be slow costs no more than a crowded one, and finds the same."""

import random
import time
from difflib import SequenceMatcher
from itertools import pairwise

from acud.features.scene.element_ids import SeenElement, match_elements
from acud.types import Rect

MANY = 2000


def comparing_s() -> float:
    """Return what comparing 500 texts takes here: the most that one screen may cost in comparisons."""
    dice = random.Random(3)
    texts = ["".join(dice.choices("abcdef ", k=80)) for _ in range(501)]
    started = time.process_time()
    for one, other in pairwise(texts):
        SequenceMatcher(None, one, other, autojunk=False).ratio()
    return time.process_time() - started


def grid(words: list[str], down: int = 0) -> list[SeenElement]:
    return [SeenElement(one, Rect(10 + n % 10 * 100, 20 * (n // 10) + down, 80, 16)) for n, one in enumerate(words)]


def spent_s(before: list[SeenElement], now: list[SeenElement]) -> tuple[float, list[int | None]]:
    started = time.process_time()
    found = match_elements(before, now)
    return time.process_time() - started, found


def test_look_alikes_that_scroll_keep_their_order() -> None:
    spent, found = spent_s(grid(["same"] * MANY), grid(["same"] * MANY, 18))
    assert found == list(range(MANY))
    assert spent < 5 * comparing_s()  # a thirtieth is usual; without a bound 4 million pairs are looked at


def test_a_pile_of_long_texts_that_nearly_agree() -> None:
    dice = random.Random(7)
    letters = [dice.choice("abcdef ") for _ in range(1000)]

    def pile() -> list[SeenElement]:
        texts = []
        for _ in range(MANY // 2):
            for _ in range(20):
                letters[dice.randrange(80)] = dice.choice("abcdef ")
            texts.append("".join(letters))
        return [SeenElement(text, Rect(0, 0, 800, 600)) for text in texts]

    spent, found = spent_s(pile(), pile())
    taken = [one for one in found if one is not None]
    assert len(taken) == len(set(taken))
    assert spent < 30 * comparing_s()  # three is usual; without a bound thousands


def test_a_row_that_is_left_over_goes_where_its_neighbours_went() -> None:
    before = grid(["OK", "alpha", "OK", "beta", "OK"])
    now = [SeenElement(one.words, one.bbox.shift(300, 40)) for one in before]
    assert match_elements(before, now) == [0, 1, 2, 3, 4]
