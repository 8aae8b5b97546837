"""Where text stands: lines in reading order, blocks of lines, words inside lines, and segments (words together).

The engine gives one box for a line. The columns of ink show where each of its words stands; where they do not
agree with the words that were read, the line's width is shared out by letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import pairwise

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from acud.evaluator.ocr.changes import runs, union
from acud.evaluator.ocr.engine import Line
from acud.types import Rect

EDGE = 8
"""Levels between the two sides of a line, or of the edge of a card or pane."""
_WHOLE = 0.95
INK = 48
"""A pixel this far from its background, in its strongest channel, is ink."""
_SEGMENT_GAP = 0.6
"""Of the line's height: words further apart stand for themselves (entries of a menu bar, columns of a table)."""


def rows(lines: Iterable[Line]) -> list[list[Line]]:
    """Return the lines as rows of the screen, top to bottom, each from left to right. A line joins a row when at least
    half of its height, or of the row's newest line's, lies beside that line.
    """
    found: list[list[Line]] = []
    for line in sorted(lines, key=lambda one: (one.box.y + one.box.h / 2, one.box.x)):
        if found and are_beside(found[-1][-1].box, line.box):
            found[-1].append(line)
        else:
            found.append([line])
    return [sorted(row, key=lambda one: one.box.x) for row in found]


def blocks(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines as blocks (a paragraph, a dialog's message), each in reading order.

    A line joins the block of a line above when it starts or overlaps below it at less than a line's height: text
    that wraps in one window is not cut up by the window next to it, as whole rows would be.
    """
    found: list[list[Line]] = []
    for line in (line for row in rows(lines) for line in row):
        above = [block for block in found if any(_follows(other.box, line.box) for other in block)]
        block = above[0] if above else []
        for other in above[1:]:
            block.extend(other)
            found.remove(other)
        if not above:
            found.append(block)
        block.append(line)
    return [[line for row in rows(block) for line in row] for block in found]


class Word(Struct, frozen=True):
    """One word, and its box in view pixels."""

    text: str
    box: Rect


class TextSegment(Struct, frozen=True):
    """Words of one line that stand together. `confidence`: the engine's, for the line."""

    words: tuple[Word, ...]
    confidence: float

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def box(self) -> Rect:
        return reduce(union, (word.box for word in self.words))


def segments(lines: Sequence[Line], pixels: NDArray[np.uint8]) -> list[TextSegment]:
    """Return the segments of `lines`, which were read in `pixels` (height x width x 4 uint8 BGRX)."""
    return [segment for line in lines for segment in _split_line(line, words_of(line, pixels))]


def words_of(line: Line, pixels: NDArray[np.uint8]) -> list[Word]:
    texts = line.text.split()
    if not texts:
        return []
    spans = columns_by_ink(line, pixels) or _by_letters(texts, line.box)
    return [
        Word(text, Rect(x, line.box.y, right - x, line.box.h)) for text, (x, right) in zip(texts, spans, strict=True)
    ]


def columns_by_ink(line: Line, pixels: NDArray[np.uint8]) -> list[tuple[int, int]] | None:
    """Return the columns of each word of `line`, the end exclusive; None where its ink does not surely part its words.
    An engine may have lost a blank: then a gap that parts no words of the text is as wide as one that does.
    """
    texts = line.text.split()
    spans = _by_ink(texts, line.box, pixels) if texts else None
    if spans is None:
        return None
    pieces = runs(letter_columns(pixels[line.box.y : line.box.bottom, line.box.x : line.box.right, :3]), 0)
    gaps = sorted((right[0] - left[1] for left, right in pairwise(pieces)), reverse=True)
    narrowest, widest_other = gaps[: len(texts) - 1][-1:], gaps[len(texts) - 1 :][:1]
    if narrowest and widest_other and widest_other[0] > _SURELY * narrowest[0]:
        return None
    by_letters = _by_letters(texts, line.box)
    far = _FAR_LETTERS * line.box.w / len(line.text)
    placed = zip(spans, by_letters, strict=True)
    return spans if all(abs(ink[0] - guess[0]) < far for ink, guess in placed) else None


_SURELY = 0.7
_FAR_LETTERS = 4


def are_beside(a: Rect, b: Rect) -> bool:
    common = min(a.bottom, b.bottom) - max(a.y, b.y)
    return 2 * common >= min(a.h, b.h)


def level_edges(pixels: NDArray[np.uint8], left: int, top: int, right: int, bottom: int) -> list[int]:
    """Return the rows of a picture (height x width x 4 uint8) after which a level edge runs through a part of it."""
    part = pixels[max(0, top) : max(0, bottom), max(0, left) : max(0, right), :3].astype(np.int16)
    if part.shape[0] < 2:
        return []
    return [max(0, top) + int(row) for row in np.flatnonzero((steps(part, 0) > EDGE).mean(axis=1) > _WHOLE)]


def steps(part: NDArray[np.int16], axis: int) -> NDArray[np.int16]:
    """Return how far neighbours along an axis of `part` (height x width x channels) differ, in the strongest channel:
    one less along that axis.
    """
    found: NDArray[np.int16] = np.abs(np.diff(part, axis=axis)).max(axis=2)
    return found


def _follows(above: Rect, below: Rect) -> bool:
    gap = below.y - above.bottom
    overlap = min(above.right, below.right) - max(above.x, below.x)
    return overlap > 0 and -above.h < gap < min(above.h, below.h)


def _by_ink(texts: Sequence[str], box: Rect, pixels: NDArray[np.uint8]) -> list[tuple[int, int]] | None:
    """Return each word's columns where the widest gaps of ink part the line into as many words, of fitting widths."""
    ink = letter_columns(pixels[box.y : box.bottom, box.x : box.right, :3])
    pieces = runs(ink, 0)
    if len(pieces) < len(texts):
        return None
    gaps = sorted(range(1, len(pieces)), key=lambda i: pieces[i - 1][1] - pieces[i][0])[: len(texts) - 1]
    firsts = [0, *sorted(gaps)]
    lasts = [*(first - 1 for first in firsts[1:]), len(pieces) - 1]
    spans = [(box.x + pieces[a][0], box.x + pieces[b][1]) for a, b in zip(firsts, lasts, strict=True)]
    return spans if _has_even_letters(texts, spans) else None


def letter_columns(part: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which columns of a line (height x width x 3 uint8) have ink, by the colour of its upper and lower edge."""
    colours = part.astype(np.int16)
    paper = np.median(np.concatenate((colours[0], colours[-1])), axis=0)  # letters fill neither edge
    found: NDArray[np.bool_] = (np.abs(colours - paper).max(axis=2) > INK).any(axis=0)
    return found


def _has_even_letters(texts: Sequence[str], spans: Sequence[tuple[int, int]]) -> bool:
    letter = sum(right - x for x, right in spans) / sum(map(len, texts))
    return all(0.4 < (right - x) / (letter * len(text)) < 2.5 for text, (x, right) in zip(texts, spans, strict=True))


def _by_letters(texts: Sequence[str], box: Rect) -> list[tuple[int, int]]:
    letter = box.w / (sum(map(len, texts)) + len(texts) - 1)
    spans, place = [], 0
    for text in texts:
        first, last = box.x + round(place * letter), box.x + round((place + len(text)) * letter)
        spans.append((first, max(last, first + 1)))
        place += len(text) + 1
    return spans


def _split_line(line: Line, words: Sequence[Word]) -> list[TextSegment]:
    groups: list[list[Word]] = []
    for word in words:
        if groups and word.box.x - groups[-1][-1].box.right <= _SEGMENT_GAP * line.box.h:
            groups[-1].append(word)
        else:
            groups.append([word])
    return [TextSegment(tuple(group), line.confidence) for group in groups]
