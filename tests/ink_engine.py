"""A fake OCR engine, so that a test compares readings exactly, in microseconds.

Every run of non-black pixels is a line, and its text is the fingerprint of each word's ink. As with a real detector,
boxes reach a little past the ink.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xxhash
from numpy.typing import NDArray

from acud.evaluator.ocr.changes import around, runs
from acud.evaluator.ocr.engine import Bgr, Reading
from acud.types import Rect

_ROW_GAP_PX, _LINE_GAP_PX, _WORD_GAP_PX, _REACH_PX = 1, 12, 5, 2


class InkEngine:
    """Counts what it is asked for in `detected_px`, `recognised` (lines, or parts of them) and their widths, and how
    often it was to release its memory.
    """

    version = "ink"

    def __init__(self) -> None:
        self.detected_px = 0
        self.recognised = 0
        self.widths_px: list[int] = []
        self.released = 0

    def detect(self, parts: Sequence[Bgr]) -> list[list[Rect]]:
        """Return a box around each run of ink of each part; runs nearer than two words of a line are one."""
        return [self._detect(part) for part in parts]

    def release(self) -> None:
        self.released += 1

    def _detect(self, pixels: Bgr) -> list[Rect]:
        self.detected_px += pixels.shape[0] * pixels.shape[1]
        ink = _ink(pixels)
        bounds = Rect(0, 0, pixels.shape[1], pixels.shape[0])
        boxes = []
        for top, bottom in runs(np.asarray(ink.any(axis=1)), _ROW_GAP_PX):
            for left, right in runs(np.asarray(ink[top:bottom].any(axis=0)), _LINE_GAP_PX):
                boxes.append(around(Rect(left, top, right - left, bottom - top), _REACH_PX, _REACH_PX, bounds))
        return boxes

    def recognise(self, crops: Sequence[Bgr]) -> list[Reading]:
        """Return the fingerprints of each crop's words, wherever in the crop they lie; "" for none."""
        self.recognised += len(crops)
        self.widths_px += [crop.shape[1] for crop in crops]
        return [_reading(crop) for crop in crops]


def _ink(pixels: Bgr) -> NDArray[np.bool_]:
    ink: NDArray[np.bool_] = np.greater(np.max(pixels, axis=2), 0)
    return ink


def _reading(crop: Bgr) -> Reading:
    ink = _ink(crop)
    rows = np.flatnonzero(ink.any(axis=1))
    words = runs(np.asarray(ink.any(axis=0)), _WORD_GAP_PX) if rows.size else []
    pixels = [np.ascontiguousarray(crop[rows[0] : rows[-1] + 1, left:right]) for left, right in words]
    text = " ".join(xxhash.xxh3_64_hexdigest(word.data) for word in pixels)
    middles: list[float] = []
    for left, right in words:
        middles += [(left + right) / 2] * (len(text.split()[0]) + bool(middles))
    return Reading(text, 1.0, tuple(middles))
