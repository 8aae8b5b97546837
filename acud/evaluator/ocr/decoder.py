"""From the recogniser's chances to letters: the most likely letter of each step, repetitions and blanks left out (CTC).

The recogniser takes capitals that look like small letters or digits for these: LoCKED, POwER, REC0RD. The capital is
then its second choice, with a chance of 2 % or more; where a small letter or a digit is right, the capital has less
than 0.1 % (on the open half of the OCR set). So a doubtful letter follows the letters around it. The other way round it
takes the v of a version for a V. A 1 that is taken for an l is the second choice with 1 % or more as well; where an l
is right, the 1 has 0.2 % at most, but in the smallest bitmap letters. A lost accent is mostly the second choice too
(not that of a Czech t). A letter without accent gives an accent a smaller chance than `_LEAST_ACCENT`, except where the
letter is cut and so in doubt itself (`_SURE_LETTER`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from acud.evaluator.ocr.bands import ink_columns
from acud.evaluator.ocr.changes import runs
from acud.evaluator.ocr.engine import Bgr, Reading

_BLANK = 0
_CAPITALS = {"0": "O", **{letter: letter.upper() for letter in "cosuvwxz"}}
"""What is taken for a capital that looks alike."""
_LEAST_CHANCE, _LEAST_ACCENT, _SURE_LETTER = 0.01, 0.05, 0.96
_AMONG_DIGITS, _AFTER_I = re.compile("[0-9]|^[Il]+$"), re.compile("I[l1]*$")
_CHINESE = re.compile("[\u3400-\u9fff]")
_CHINESE_PAIR = re.compile("(?=[\u3400-\u9fff][0-9A-Za-z\u3400-\u9fff]|[0-9A-Za-z][\u3400-\u9fff])")
_GAP_X, _MIXED_GAP_X = 0.11, 0.16
_BLANK_X, _BLANK_BY_ONES_X, _SPREAD_X = 0.55, (0.25, 0.45, 0.6), 0.15
"""A gap wider than the usual one of its line by so many advances of a letter is a blank. Digits stand evenly, but for
each narrow 1 beside the gap, and engines lose the blanks between them most. Where the usual gap is wider than the last,
letters are set apart, and a blank that is no wider was made up (by 16 fonts of 9 to 32 px)."""
_RUN = re.compile("[^\\W_]+")  # letters and digits without anything between


class LetterDecoder:
    """Spells with the `characters` of a model, in its order."""

    def __init__(self, characters: Sequence[str]) -> None:
        self._characters = ["", *characters, " "]
        self._index = {character: index for index, character in enumerate(self._characters)}
        self._accented = [index for character, index in self._index.items() if _without_accent(character) != character]

    def decode(self, chances: NDArray[np.float32], step_px: float) -> Reading:
        """Return what `chances` (steps x characters) spell; a step is `step_px` pixels of the crop wide."""
        best = chances.argmax(axis=1)
        new = best != _BLANK
        new[1:] &= best[1:] != best[:-1]
        steps = np.flatnonzero(new)
        if not steps.size:
            return Reading("", 0.0)
        letters = [self._characters[index] for index in best[steps]]
        sure = float(chances[steps, best[steps]].mean())
        self._settle_doubts(letters, chances[steps])
        text = "".join(letters)
        first, last = len(text) - len(text.lstrip()), len(text.rstrip())
        middles = tuple(((steps[first:last] + 0.5) * step_px).tolist())
        return Reading(text[first:last], sure, middles)

    def _settle_doubts(self, letters: list[str], chances: NDArray[np.float32]) -> None:
        accented = chances[:, self._accented]
        for place in np.flatnonzero((accented >= _LEAST_ACCENT).any(axis=1)).tolist():
            likely = self._characters[self._accented[accented[place].argmax()]]
            sure = chances[place, self._index[letters[place]]] + accented[place].sum()
            if _without_accent(likely) == letters[place] and sure >= _SURE_LETTER:
                letters[place] = likely
        for run in _RUN.finditer("".join(letters)):
            for place in range(*run.span()):
                other = _other_letter(letters[place], run.group(), place - run.start())
                if other is not None and chances[place, self._index[other]] >= _LEAST_CHANCE:
                    letters[place] = other


def with_gaps(reading: Reading, crop: Bgr) -> Reading:
    """Return a reading with the blanks that its crop shows, where the recogniser surely lost one or made one up.

    A blank parts Chinese letters by 0.12 heights of a line or more, no blank by 0.1 at most; beside other letters and
    digits, which stand a little apart anyway, by more (on the open half of the OCR set). Other letters stand as far
    apart as their font, pitch and spacing have it, so their gaps are compared with those of their own line.
    """
    places = [place for place, letter in enumerate(reading.text) if letter != " "]
    if len(places) < 2 or not reading.middles:
        return reading
    letters = [reading.text[place] for place in places]
    middles = np.array([reading.middles[place] for place in places])
    gaps, is_read = _gaps_between(middles, crop), np.diff(places) > 1
    is_blank, is_mixed = is_read.copy(), np.zeros(len(gaps), np.bool_)
    for place in (found.start() for found in _CHINESE_PAIR.finditer("".join(letters))):
        both = all(_CHINESE.match(letter) for letter in letters[place : place + 2])
        is_blank[place] |= gaps[place] >= (_GAP_X if both else _MIXED_GAP_X) * crop.shape[0]
        is_mixed[place] = True
    usual = ~is_read & ~is_mixed
    if usual.any():
        gap = np.sort(gaps[usual])[(np.count_nonzero(usual) - 1) // 2]
        advance = np.diff(middles)[usual].mean()
        least = np.array([_blank_x(*pair) for pair in pairwise(letters)])
        is_blank |= ~is_mixed & (gaps - gap > least * advance)
        if gap > _SPREAD_X * advance:
            is_blank &= is_mixed | (gaps - gap >= _SPREAD_X * advance)
    if np.array_equal(is_blank, is_read):
        return reading
    text, where = letters[:1], [middles[0]]
    for blank, letter, left, right in zip(is_blank, letters[1:], middles, middles[1:], strict=False):
        text += [" ", letter] if blank else [letter]
        where += [(left + right) / 2, right] if blank else [right]
    return reading._replace(text="".join(text), middles=tuple(map(float, where)))


def _blank_x(left: str, right: str) -> float:
    return _BLANK_BY_ONES_X[(left + right).count("1")] if (left + right).isdecimal() else _BLANK_X


def _gaps_between(middles: NDArray[np.float64], crop: Bgr) -> NDArray[np.int_]:
    """Return the columns of the widest gap of ink between each two letters, 0 where they touch."""
    found = np.zeros(len(middles) - 1, np.int_)
    for (_, left), (right, _) in pairwise(runs(ink_columns(crop), 1)):
        pair = int(np.searchsorted(middles, (left + right) / 2)) - 1
        if 0 <= pair < len(found):
            found[pair] = max(found[pair], right - left)
    return found


def _without_accent(letter: str) -> str:
    plain = unicodedata.normalize("NFD", letter)[:1]
    return plain if plain.isascii() and plain.isalpha() else letter


def _other_letter(letter: str, run: str, place: int) -> str | None:
    """Return what the letter at `place` of `run` most likely is where the engine confuses the two: a capital
    among capitals, a 1 for an l among digits or after a capital I, an O for a zero among three letters or
    more of any case, where no other digit is, and a v for a V before a number.
    """
    if letter == "V" and run[0] == "V" and run[1:].isdigit():
        return "v"
    if letter == "l":
        return "1" if _AMONG_DIGITS.search(run) or _AFTER_I.search(run[:place]) else None
    others = [other for other in run if other not in _CAPITALS]
    if letter == "0":
        likely = sum(other.isalpha() for other in run) >= 3 and not any(other.isdigit() for other in others)
    else:
        likely = len(others) >= 2 and all(other.isupper() for other in others)
    return _CAPITALS.get(letter) if likely else None
