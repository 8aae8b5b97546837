"""From the recogniser's chances to letters: the most likely letter of each step, repetitions and blanks left out (CTC).

The recogniser takes capitals that look like small letters or digits for these: LoCKED, POwER, REC0RD. The capital is
then its second choice, with a chance of 2 % or more; where a small letter or a digit is right, the capital has less
than 0.1 % (on the open half of the OCR set). So a doubtful letter follows the letters around it. The other way round it
takes the v of a version for a V. A 1 that is taken for an l is the second choice with 1 % or more as well; where an l
is right, the 1 has 0.2 % at most, but in the smallest bitmap letters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from acud.evaluator.ocr.bands import ink_columns
from acud.evaluator.ocr.changes import runs
from acud.evaluator.ocr.engine import Bgr, Reading

_BLANK = 0
_CAPITALS = {"0": "O", **{letter: letter.upper() for letter in "cosuvwxz"}}
"""What is taken for a capital that looks alike."""
_LEAST_CHANCE = 0.01
_AMONG_DIGITS, _AFTER_I = re.compile("[0-9]|^[Il]+$"), re.compile("I[l1]*$")
_CHINESE = re.compile("[\u3400-\u9fff]")
_CHINESE_PAIR = re.compile("(?=[\u3400-\u9fff][0-9A-Za-z\u3400-\u9fff]|[0-9A-Za-z][\u3400-\u9fff])")
_GAP_X, _MIXED_GAP_X = 0.11, 0.16
_RUN = re.compile("[^\\W_]+")
"""Letters and digits without anything between."""


class LetterDecoder:
    """Spells with the `characters` of a model, in its order."""

    def __init__(self, characters: Sequence[str]) -> None:
        self._characters = ["", *characters, " "]
        self._index = {character: index for index, character in enumerate(self._characters)}

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
        for run in _RUN.finditer("".join(letters)):
            for place in range(*run.span()):
                other = _other_letter(letters[place], run.group(), place - run.start())
                if other is not None and chances[place, self._index[other]] >= _LEAST_CHANCE:
                    letters[place] = other


def with_gaps(reading: Reading, crop: Bgr) -> Reading:
    """Return a reading with the spaces between Chinese words that its crop shows: the recogniser drops them.

    A space parts Chinese letters by 0.12 heights of a line or more, no space by 0.1 at most; beside other letters and
    digits, which stand a little apart anyway, by more (on the open half of the OCR set).
    """
    pairs = [m.start() for m in _CHINESE_PAIR.finditer(reading.text)]
    if not pairs or not reading.middles:
        return reading
    ink, height = ink_columns(crop), crop.shape[0]
    text, middles = list(reading.text), list(reading.middles)
    for place in reversed(pairs):
        left, right = middles[place], middles[place + 1]
        both = all(_CHINESE.match(letter) for letter in text[place : place + 2])
        least = (_GAP_X if both else _MIXED_GAP_X) * height
        if max((end - start for start, end in runs(~ink[int(left) : int(right) + 1], 1)), default=0) >= least:
            text.insert(place + 1, " ")
            middles.insert(place + 1, (left + right) / 2)
    return reading._replace(text="".join(text), middles=tuple(middles))


def _other_letter(letter: str, run: str, place: int) -> str | None:
    """Return what the letter at `place` of `run` most likely is where the engine can't tell it from that: a capital
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
