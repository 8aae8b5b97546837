"""From the recogniser's chances to letters: the most likely letter of each step, repetitions and blanks left out (CTC).

The recogniser takes capitals that look like small letters or digits for these: LoCKED, POwER, REC0RD. The capital is
then its second choice, with a chance of 2 % or more; where a small letter or a digit is right, the capital has less
than 0.1 % (on the open half of the OCR set). So a doubtful letter follows the letters around it. The other way round it
takes the v of a version for a V.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from acud.evaluator.ocr.engine import Reading

_BLANK = 0
_CAPITALS = {"0": "O", **{letter: letter.upper() for letter in "cosuvwxz"}}
"""What is taken for a capital that looks alike."""
_LEAST_CHANCE = 0.01
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
                other = _other_letter(letters[place], run.group())
                if other is not None and chances[place, self._index[other]] >= _LEAST_CHANCE:
                    letters[place] = other


def _other_letter(letter: str, run: str) -> str | None:
    """Return what a letter of `run` most likely is where the engine can't tell it from that: a capital among capitals,
    an O for a zero among three letters or more of any case, where no other digit is, and a v for a V before a number.
    """
    if letter == "V" and run[0] == "V" and run[1:].isdigit():
        return "v"
    others = [other for other in run if other not in _CAPITALS]
    if letter == "0":
        likely = sum(other.isalpha() for other in run) >= 3 and not any(other.isdigit() for other in others)
    else:
        likely = len(others) >= 2 and all(other.isupper() for other in others)
    return _CAPITALS.get(letter) if likely else None
