"""What exact pixels were read as: lines, parts of lines, and words.

A word has the same pixels when it comes again in the same font, as words do in a terminal's log. So of a line that
changes where it stands only the words that were not seen before are read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import xxhash

from acud.evaluator.ocr.bands import word_spans
from acud.evaluator.ocr.engine import Bgr, Reading

MAX_KEPT_READINGS = 16_384
"""Lines and words kept; about 4 MB."""
_UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff01-\uff60]")
"""Chinese and Japanese letters and their punctuation."""


class Unread(NamedTuple):
    """What of a crop is to be read: columns `left` to `right`, which are none when all its words are known.

    `before` and `after`: the readings of the words on both sides.
    """

    left: int
    right: int
    before: tuple[Reading, ...] = ()
    after: tuple[Reading, ...] = ()


class ReadingMemo:
    """Readings by pixels, oldest use out first."""

    def __init__(self) -> None:
        self._readings: OrderedDict[bytes, Reading] = OrderedDict()

    def recall(self, crop: Bgr) -> Reading | None:
        """Return the reading of exactly these pixels, if any."""
        key = _make_key(crop)
        found = self._readings.get(key)
        if found is not None:
            self._readings.move_to_end(key)
        return found

    def unread(self, crop: Bgr) -> Unread:
        """Return what of `crop` lies between the words at its ends that are known, cut in the gaps between words."""
        spans = word_spans(crop)
        known = [self.recall(_cut_columns(crop, span)) for span in spans]
        missing = [place for place, reading in enumerate(known) if reading is None]
        if not missing:
            return Unread(0, 0, tuple(one for one in known if one is not None))
        first, last = missing[0], missing[-1]
        left = (spans[first - 1][1] + spans[first][0]) // 2 if first else 0
        right = (spans[last][1] + spans[last + 1][0]) // 2 if last + 1 < len(spans) else crop.shape[1]
        before, after = known[:first], known[last + 1 :]
        return Unread(left, right, tuple(o for o in before if o is not None), tuple(o for o in after if o is not None))

    def learn(self, crop: Bgr, reading: Reading) -> None:
        """Keep the reading of `crop`, and those of its words where the engine places each letter."""
        self._keep_reading(crop, reading)
        if not reading.middles:
            return
        for span, text in _list_words(word_spans(crop), reading):
            self._keep_reading(_cut_columns(crop, span), Reading(text, reading.confidence, reader=reading.reader))

    def _keep_reading(self, crop: Bgr, reading: Reading) -> None:
        key = _make_key(crop)
        self._readings[key] = Reading(reading.text, reading.confidence, reader=reading.reader)
        self._readings.move_to_end(key)
        while len(self._readings) > MAX_KEPT_READINGS:
            self._readings.popitem(last=False)


def join_readings(parts: Iterable[Reading]) -> Reading:
    """Return the reading of a line from its parts, left to right; its confidence is the mean over its letters. Its
    `reader` is the second one if that read any of the parts.
    """
    text, sure, length, reader = "", 0.0, 0, ""
    for part in parts:
        text = _side_by_side(text, part.text)
        sure += part.confidence * len(part.text)
        length += len(part.text)
        reader = part.reader or reader
    return Reading(text, sure / length if length else 0.0, reader=reader)


def _side_by_side(left: str, right: str) -> str:
    """Return two parts of a line with a space between, as between words; Chinese and Japanese have none."""
    spaced = left and right and not (_UNSPACED.match(left[-1]) or _UNSPACED.match(right[0]))
    return f"{left} {right}" if spaced else left + right


def _list_words(spans: Sequence[tuple[int, int]], reading: Reading) -> list[tuple[tuple[int, int], str]]:
    """Return the spans that have letters, with these, but for spans in which the engine saw several words."""
    cuts = [(left + right) / 2 for (_, left), (right, _) in pairwise(spans)]
    letters = [""] * len(spans)
    for letter, middle in zip(reading.text, reading.middles, strict=True):
        if letters:
            letters[bisect_right(cuts, middle)] += letter
    found = [(span, text.strip()) for span, text in zip(spans, letters, strict=True)]
    return [(span, text) for span, text in found if text and " " not in text]


def _cut_columns(crop: Bgr, span: tuple[int, int]) -> Bgr:
    return np.ascontiguousarray(crop[:, span[0] : span[1]])


def _make_key(crop: Bgr) -> bytes:
    return xxhash.xxh3_128_digest(crop.data) + bytes(str(crop.shape), "ascii")
