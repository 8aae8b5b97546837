"""Does a text show among the lines that were read? White space folded, case ignored unless told, across line breaks.

Engines misread what looks alike (`-O2` as `-02`) and drop spaces. Words of five letters or more are therefore found in
that disguise too, unless case is to match. `gone` asks for plain absence: there any length, more look-alikes and also
doubtful readings still count as there, so that one misread letter does not end a wait.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import NamedTuple

from acud.evaluator.ocr.changes import union
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.text_layout import blocks, rows
from acud.patterns import PatternFault, compiled
from acud.types import Rect, Text, Verdict, no, unknown, yes

_MAX_QUOTE = 200
_MIN_DISGUISED = 5
"""Characters of a text that may be found among look-alikes; shorter ones ("10", "Yes") would be found anywhere."""
_MISREAD = {"0": "o", "1": "l", "i": "l", "|": "l", ",": ".", ";": ":"}
_BETWEEN_CJK = re.compile("(?<=[\u3000-\u30ff\u3400-\u9fff]) (?=[\u3000-\u30ff\u3400-\u9fff])")
_CLOSE = str.maketrans(_MISREAD)
_ALIKE = str.maketrans({**_MISREAD, "!": "l", "5": "s", "8": "b", "2": "z"})


ReadAs = Callable[[str], str]
"""How words are made comparable."""


class JoinedLines(NamedTuple):
    """Lines joined to one text, and each line's span in it."""

    text: str
    spans: tuple[tuple[int, int, Line], ...]

    def lines_at(self, start: int, end: int) -> list[Line]:
        """Return the lines that text[start:end] touches."""
        return [line for first, last, line in self.spans if first < max(end, start + 1) and last > start]


class TextHit(NamedTuple):
    """Where the text shows."""

    lines: list[Line]

    def words(self, at: Rect) -> str:
        """Return the matched lines as a quotation with their box; `at` is the view's place in its source."""
        box = reduce(union, (line.box for line in self.lines)).moved(at.x, at.y)
        others = ", ".join(dict.fromkeys(line.reader for line in self.lines if line.reader))
        by = f" by {others}" if others else ""
        return f'"{" ".join(line.text for line in self.lines)[:_MAX_QUOTE]}" at {box.x},{box.y} ({box.w}x{box.h}){by}'


def look_for(lines: Sequence[Line], leaf: Text, min_confidence: float, at: Rect) -> Verdict:
    """Return the verdict on `leaf` over the `lines` of a view that lies at `at` in its source."""
    if not leaf.regex and not alike(leaf.text):
        return unknown("engine", "the text to look for is blank")
    counted = lines if leaf.gone else [line for line in lines if line.confidence >= min_confidence]
    try:
        hit = _find(counted, leaf)
    except PatternFault as fault:
        return unknown("engine", f"the regular expression {fault}")
    if leaf.gone:
        return _absent(lines, leaf, hit, at)
    return yes(f"reads {hit.words(at)}") if hit else no(f'"{leaf.text}" is in none of {len(counted)} lines of text')


def _absent(lines: Sequence[Line], leaf: Text, hit: TextHit | None, at: Rect) -> Verdict:
    hit = hit or (None if leaf.regex else _find_as(lines, leaf.text, alike))
    if hit is not None:
        return no(f"still reads {hit.words(at)}")
    return yes(f'"{leaf.text}" is in none of {len(lines)} lines of text')


def _find(lines: Sequence[Line], leaf: Text) -> TextHit | None:
    if leaf.regex:
        page = make_page(rows(lines), spaced, row_end="\n")
        found = compiled(leaf.text, ignore_case=not leaf.match_case, lines=True).search(page.text)
        return _hit(page, *found) if found is not None else None
    if leaf.match_case:
        return _find_as(lines, leaf.text, folded)
    hit = _find_as(lines, leaf.text, caseless)
    if hit is None and len(close(leaf.text)) >= _MIN_DISGUISED:
        hit = _find_as(lines, leaf.text, close)
    return hit


def _find_as(lines: Sequence[Line], text: str, read_as: ReadAs) -> TextHit | None:
    wanted = read_as(text)
    for order in (rows, blocks):
        for page in _pages(order(lines), read_as, whole=order is rows):
            start = page.text.find(wanted)
            if start >= 0:
                return _hit(page, start, start + len(wanted))
    return None


def _hit(page: JoinedLines, start: int, end: int) -> TextHit | None:
    lines = page.lines_at(start, end)  # none: a pattern that fits the empty text of an empty screen
    return TextHit(lines) if lines else None


def _pages(groups: list[list[Line]], read_as: ReadAs, *, whole: bool) -> Iterable[JoinedLines]:
    """Return one page of all rows, or one for each block."""
    gap = "" if read_as in (alike, close) else " "
    return (make_page(part, read_as, gap) for part in ([groups] if whole else [[group] for group in groups]))


def make_page(groups: Iterable[Sequence[Line]], read_as: ReadAs, gap: str = " ", row_end: str = "") -> JoinedLines:
    """Return the lines of `groups` as one text: `gap` between lines, `row_end` (or else `gap`) between groups."""
    text, spans = "", []
    for group in groups:
        for place, line in enumerate(group):
            words = read_as(line.text)
            between = (gap if place else row_end or gap) if text else ""
            if read_as is not spaced and _BETWEEN_CJK.search(text[-1:] + between + words[:1]):
                between = ""
            start = len(text) + len(between)
            text += between + words
            spans.append((start, len(text), line))
    return JoinedLines(text, tuple(spans))


def spaced(text: str) -> str:
    """Return `text` with white space folded, and compatibility forms (full-width letters, ligatures) made plain."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def folded(text: str) -> str:
    """Return `text` as `spaced`, with no space between Chinese or Japanese letters: engines drop it, or make it up."""
    return _BETWEEN_CJK.sub("", spaced(text))


def caseless(text: str) -> str:
    """Return `text` folded, without case."""
    return folded(text).casefold()


def close(text: str) -> str:
    """Return `text` without case and spaces, the letters that engines take for one another made one."""
    return caseless(text).replace(" ", "").translate(_CLOSE)


def alike(text: str) -> str:
    """Return `text` without case and spaces, all letters that look alike made one."""
    return caseless(text).replace(" ", "").translate(_ALIKE)
