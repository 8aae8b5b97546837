"""Where secrets are on a screen: the boxes of the rules' finds in the recognised lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from acud.features.redaction.cells import Cell, find_in_cells
from acud.features.redaction.rule_data import forms
from acud.features.redaction.spans import RedactedSpan, Rule, find_words, is_mixed, looks_random, merge_spans
from acud.features.redaction.text_rules import TextRules, find, mask_spans
from acud.types import HiddenBox, Rect, RedactedText


class ReadLine(NamedTuple):
    """A piece of text on one row, and its box in the view."""

    text: str
    box: Rect


class PlacedWord(NamedTuple):
    """text[start:end] of a line, and its columns in the view, `right` exclusive."""

    start: int
    end: int
    left: float
    right: float


WordsByInk = Callable[[ReadLine], Sequence[tuple[int, int]] | None]
"""Returns the columns of each word of a line, `right` exclusive; None where its ink does not separate words."""


class _Piece(NamedTuple):
    start: int
    end: int
    row: int
    line: ReadLine


class _Wraps(NamedTuple):
    """The rows that continue in the next, each with its separator from that row (a blank that fell on the edge, or
    nothing), and the left and right edges of the text.
    """

    joins: Mapping[int, str]
    left: int
    right: int


class _Page(NamedTuple):
    """All rows as one text (a line break first and after each, tabs between boxes), its pieces, and the view."""

    text: str
    pieces: list[_Piece]
    bounds: Rect
    by_ink: WordsByInk
    wraps: _Wraps
    letter_px: float
    pitch_px: float


_NARROW = frozenset("iljtfrI|!.,:;'`()[]{} 1")
_WIDE = frozenset("mwMW@%")
_WORD = re.compile(r"[A-Za-z0-9_+/=.~-]{1,}+")
_PAD_PX = 3
_PAD_LETTERS = 0.4


def _no_ink(line: ReadLine) -> None:
    return None


def hide_in(
    rows: Sequence[Sequence[ReadLine]], rules: TextRules, bounds: Rect, by_ink: WordsByInk = _no_ink
) -> list[HiddenBox]:
    """Return the boxes that hide the finds of `rules` in the lines of a view, given as rows in reading order.

    `bounds`: the view. `by_ink` locates words, so that less is hidden beside a secret. The caller bounds the time of
    the user's own patterns.
    """
    page = _make_page(rows, bounds, by_ink)
    hidden: list[HiddenBox] = []
    for span, touched, continued in _find_pieces(page, rules):
        hidden += _span_boxes(span, touched, page)
        hidden += (HiddenBox(span.rule.value, _part_box(below, below.start, end, page)) for below, end in continued)
    return hidden


def redact_rows(rows: Sequence[Sequence[ReadLine]], rules: TextRules) -> list[RedactedText]:
    """Return the lines' texts, row by row, without the finds of `rules`; see `hide_in`."""
    page = _make_page(rows, Rect(0, 0, 0, 0), _no_ink)
    spans: dict[_Piece, list[RedactedSpan]] = {piece: [] for piece in page.pieces}
    for span, touched, continued in _find_pieces(page, rules):
        for piece in touched:
            start, end = max(span.start, piece.start), min(span.end, piece.end)
            spans[piece].append(RedactedSpan(start - piece.start, end - piece.start, span.rule))
        for below, end in continued:
            spans[below].append(RedactedSpan(0, end - below.start, span.rule))
    return [_redact_line(piece.line.text, merge_spans(found)) for piece, found in spans.items()]


def _word_columns(line: ReadLine, by_ink: WordsByInk) -> tuple[tuple[int, int], ...]:
    """Return the columns of each word of a short line (perhaps several cells); none where ink has no gaps."""
    columns = by_ink(line) if 1 < len(line.text.split()) <= _MAX_CELL_WORDS else None
    return tuple(columns or ())


_MAX_CELL_WORDS = 12


def _redact_line(text: str, spans: Sequence[RedactedSpan]) -> RedactedText:
    weightiest = min((span.rule for span in spans), key=list(Rule).index, default=None)
    return RedactedText(mask_spans(text, spans), weightiest.value if weightiest is not None else "")


def _find_pieces(
    page: _Page, rules: TextRules
) -> Iterator[tuple[RedactedSpan, list[_Piece], list[tuple[_Piece, int]]]]:
    """Yield each find of `rules`, the pieces it touches, and those that continue a key, each with its end."""
    cells = [
        Cell(piece.start, piece.end, piece.row, piece.line.text, piece.line.box, _word_columns(piece.line, page.by_ink))
        for piece in page.pieces
    ]
    by_place = (span for span in find_in_cells(cells) if span.rule in rules.active)
    for span in merge_spans((*find(page.text, rules, read=True), *by_place)):
        touched = [piece for piece in page.pieces if piece.start < span.end and piece.end > span.start]
        goes_on = span.rule is Rule.KEY and touched and span.end >= touched[-1].end
        quote = next((c for c in page.text[max(0, span.start - 1) : span.start + 1] if c in "\"'"), "")
        yield span, touched, list(_find_continuations(touched[-1], page.pieces, quote)) if goes_on else []


def _make_page(rows: Sequence[Sequence[ReadLine]], bounds: Rect, by_ink: WordsByInk) -> _Page:
    # A row that a terminal broke at its edge goes on without a line break.
    parts, pieces, at = ["\n"], [], 1
    wraps = _find_wraps(rows)
    for number, row in enumerate(rows):
        for place, line in enumerate(row):
            clean = line.text.replace("\n", " ").replace("\t", " ")
            end = wraps.joins.get(number, "\n") if place == len(row) - 1 else "\t"
            pieces.append(_Piece(at, at + len(clean), number, line))
            parts += (clean, end)
            at += len(clean) + len(end)
    return _Page("".join(parts), pieces, bounds, by_ink, wraps, _letter_px(rows), _pitch_px(rows))


_MIN_COLUMNS = 40
_WRAPS = 2
"""This many lines must end at the same edge: a single one is just the longest."""


_NO_WRAPS = _Wraps({}, 0, 0)


def _find_wraps(rows: Sequence[Sequence[ReadLine]]) -> _Wraps:
    """Return the rows that end at a terminal's edge and continue at the other edge of the row right below."""
    full = [
        (number, row[-1].box.right, row[-1].box.w / len(row[-1].text))
        for number, row in enumerate(rows)
        if row and len(row[-1].text) >= _MIN_COLUMNS
    ]
    if not full:
        return _NO_WRAPS
    edge = max(right for _, right, _ in full)
    ending = {number: (edge - right) / wide for number, right, wide in full if edge - right < 1.6 * wide}
    if sum(short < _AT_EDGE for short in ending.values()) < _WRAPS:
        return _NO_WRAPS
    left = min(rows[number][0].box.x for number in ending)
    joins = {
        number: "" if short < _AT_EDGE and indent < _AT_EDGE else " "
        for number, short in ending.items()
        if number + 1 < len(rows) and (indent := _measure_indent(rows[number], rows[number + 1], left)) is not None
    }
    return _Wraps(joins, left, edge)


_AT_EDGE = 0.8
"""Letters from the edge; if one is missing, a blank stood there."""


def _measure_indent(row: Sequence[ReadLine], below: Sequence[ReadLine], left: int) -> float | None:
    """Return how many letters from the edge the row `below` begins that continues `row`; None if it does not."""
    last, first = row[-1].box, below[0].box
    wide = last.w / len(row[-1].text)
    text = below[0].text
    if forms()["new line"].match(text) or text[:_SAME_START] == row[0].text[:_SAME_START]:
        return None
    if any(abs(one.box.x - other.box.x) < wide for one in row[1:] for other in below[1:]):
        return None  # a table
    indent = (first.x - left) / wide
    # A blank may have fallen behind the edge; underscores there are easily lost.
    near = _BLANK if " " in text or not _goes_on(text) else _LOST
    is_below = abs(row[0].box.x - left) < 2 * wide and first.y - last.bottom < last.h
    return (0.0 if near == _LOST else indent) if is_below and -1 < indent < near else None


_SAME_START = 5
_BLANK, _LOST = 1.6, 3.5


def _span_boxes(span: RedactedSpan, touched: Sequence[_Piece], page: _Page) -> Iterator[HiddenBox]:
    over_lines = span.rule in (Rule.PRIVATE, Rule.KEY) and "\n" in page.text[span.start : span.end].strip("\n")
    cut_off = span.rule is Rule.PRIVATE and (span.start == 0 or span.end == len(page.text))
    if over_lines or cut_off:
        yield HiddenBox(span.rule.value, _band_box(span, touched, page))
    else:
        for piece in touched:
            yield HiddenBox(span.rule.value, _to_edges(_part_box(piece, span.start, span.end, page), piece, span, page))


def _to_edges(box: Rect, piece: _Piece, span: RedactedSpan, page: _Page) -> Rect:
    """Return the box of a part of `span`, as wide as the terminal where that breaks it: letters at an edge get lost."""
    joins, left, right = page.wraps
    if span.start < piece.start and piece.row - 1 in joins and page.pieces[0] is not piece:
        box = Rect(min(left, box.x), box.y, box.right - min(left, box.x), box.h)
    if span.end > piece.end and piece.row in joins:
        box = Rect(box.x, box.y, max(right, box.right) - box.x, box.h)
    return box


def _band_box(span: RedactedSpan, touched: Sequence[_Piece], page: _Page) -> Rect:
    """Return the box over several rows. A private one is as wide as the view: a line in it may be unread.

    A region that was cut off goes to the edge of the view.
    """
    bounds = page.bounds
    boxes = [piece.line.box for piece in touched] or [bounds]
    top, bottom = min(box.y for box in boxes) - _PAD_PX, max(box.bottom for box in boxes) + _PAD_PX
    if span.rule is not Rule.PRIVATE:
        left, right = min(box.x for box in boxes), max(box.right for box in boxes)
        return _clip_box(Rect(left - _PAD_PX, top, right - left + 2 * _PAD_PX, bottom - top), bounds)
    top = bounds.y if span.start == 0 else top
    bottom = bounds.bottom if span.end == len(page.text) else bottom
    return _clip_box(Rect(bounds.x, top, bounds.w, bottom - top), bounds)


def _part_box(piece: _Piece, start: int, end: int, page: _Page) -> Rect:
    """Return the box of text[start:end] within a line.

    In a terminal all letters are equally wide. Elsewhere the ink gives the beginning of a word; inside it letters get
    their likely widths, and the box is wider by a part of a letter.
    """
    box = piece.line.box
    first, last = max(0, start - piece.start), min(len(piece.line.text), end - piece.start)
    if letter := _even_letter(piece.line, page.letter_px):
        left, right = box.x + (first - _BEARING) * letter, box.x + last * letter
        pad = max(1, min(_PAD_PX, round((page.pitch_px + 2 - box.h) / 2)))
        return _clip_box(Rect(int(left), box.y - pad, int(right - left) + 2, box.h + 2 * pad), page.bounds)
    words = _place_words(piece.line, page.by_ink)
    begins = next((word for word in words if first < word.end), words[-1])
    ends = next((word for word in reversed(words) if last > word.start), words[0])
    left = _letter_edge(begins, piece.line, first, before=True)
    right = _letter_edge(ends, piece.line, last, before=False)
    return _clip_box(Rect(int(left), box.y - _PAD_PX, int(right - left) + 1, box.h + 2 * _PAD_PX), page.bounds)


_BEARING = 0.35
"""Of a letter's width: the most that is left free beside its ink."""
_LONG_LINES, _LEAST_LETTERS = 8, 30
_OFF = 0.45
"""Letters."""
_MOST_COMPARED = 80


def _letter_px(rows: Sequence[Sequence[ReadLine]]) -> float:
    """Return the width of every letter of a terminal; 0 where the long lines of a view have letters of many widths."""
    lines = [line for row in rows for line in row if len(line.text) >= _LEAST_LETTERS]
    if len(lines) < _LONG_LINES:
        return 0.0
    lines = lines[:: -(-len(lines) // _MOST_COMPARED)]  # each is compared with each
    widths = (line.box.w / (len(line.text) - _BEARING) for line in lines)
    most, width = max((sum(_is_even(line, width) for line in lines), width) for width in widths)
    return width if 2 * most > len(lines) else 0.0


def _is_even(line: ReadLine, letter_px: float) -> bool:
    """Return whether a line has the length of letters of that width: whole lines of text in other fonts are some
    letters off, as are lines with a letter lost or added by the engine.
    """
    return abs(line.box.w - (len(line.text) - _BEARING) * letter_px) < _OFF * letter_px


def _pitch_px(rows: Sequence[Sequence[ReadLine]]) -> float:
    """Return the usual distance of the rows of a view."""
    tops = sorted(row[0].box.y for row in rows if row)
    apart = sorted(below - above for above, below in pairwise(tops))
    return apart[len(apart) // 2] if apart else 0.0


def _even_letter(line: ReadLine, letter_px: float) -> float:
    """Return the width of each letter of a line in a terminal; 0 where the engine lost or added one."""
    return line.box.w / (len(line.text) - _BEARING) if letter_px and _is_even(line, letter_px) else 0.0


def _place_words(line: ReadLine, by_ink: WordsByInk) -> list[PlacedWord]:
    """Return the words of a line; where its ink does not separate them, the whole line as one."""
    spans = [match.span() for match in find_words(line.text)]
    columns = by_ink(line) if spans else None
    if columns is None or len(columns) != len(spans):
        return [PlacedWord(0, len(line.text), line.box.x, line.box.right)]
    return [PlacedWord(*span, *column) for span, column in zip(spans, columns, strict=True)]


def _letter_edge(word: PlacedWord, line: ReadLine, at: int, *, before: bool) -> float:
    """Return where the letter at `at` begins (`before`), or where the one before it ends, with a margin."""
    if at <= word.start:
        return word.left - _PAD_PX
    if at >= word.end:
        return word.right + _PAD_PX
    wide, count = word.right - word.left, word.end - word.start
    shares = [_letter_share(c) for c in line.text[word.start : word.end]]
    places = ((at - word.start) / count, sum(shares[: at - word.start]) / sum(shares))
    is_line = count == len(line.text) and " " in line.text
    pad = max(wide / count, line.box.h / 3) + 2 if is_line else _PAD_LETTERS * wide / count + 1
    return word.left + (min(places) * wide - pad if before else max(places) * wide + pad)


def _letter_share(c: str) -> float:
    return 0.5 if c in _NARROW else 1.5 if c in _WIDE else 1.2 if c.isupper() else 1.0


def _find_continuations(last: _Piece, pieces: Sequence[_Piece], quote: str) -> Iterator[tuple[_Piece, int]]:
    """Yield the lines right below that continue a key that an edge broke, each with the end of its part. `quote`: the
    quotation mark at the key's beginning, if any: the key continues up to the next one.
    """
    while not (quote and last.line.text.endswith(quote)) and (below := _line_below(last, pieces)) is not None:
        word = _WORD.match(below.line.text)
        closed = quote and word is not None and below.line.text[word.end() : word.end() + 1] == quote
        if word is None or not (closed or _goes_on(word[0])):
            return
        yield below, below.start + word.end()
        if word.end() < len(below.line.text):
            return
        last = below


def _line_below(piece: _Piece, pieces: Sequence[_Piece]) -> _Piece | None:
    """Return the line below that may continue `piece`: a terminal's, if no line is longer, or a cell's."""
    box = piece.line.box
    # A piece right of another belongs to that: a row of a table, a value right of its name.
    near = [
        other
        for place, other in enumerate(pieces)
        if piece.row < other.row <= piece.row + 2
        and (place == 0 or pieces[place - 1].row != other.row or _is_alone(pieces[place - 1].line))
        and other.line.box.x <= box.right
        and -box.h // 2 < other.line.box.y - box.bottom < box.h
    ]
    below = min(near, key=lambda other: other.line.box.y, default=None)
    if below is None:
        return None
    wide = box.w / max(1, len(piece.line.text))
    longest = max(other.line.box.right for other in pieces if other.line.box.x <= box.right)
    is_cell = " " not in piece.line.text.strip() and abs(below.line.box.x - box.x) < wide
    return below if box.right >= longest - 1.5 * wide or (is_cell and below.line.box.right <= box.right) else None


def _is_alone(line: ReadLine) -> bool:
    """Return whether a line is a mark at the edge, no cell: a bar, a dot, a frame misread by an engine."""
    return sum(c.isalnum() for c in line.text) < _LEAST_OF_CELL


_LEAST_OF_CELL = 2


def _goes_on(word: str) -> bool:
    if re.search(r"=\w|[A-Z]{2,}_[A-Z]{2,}", word):
        return False
    return looks_random(word) or (is_mixed(word) and (word.isalnum() or len(word) >= 16))


def _clip_box(box: Rect, bounds: Rect) -> Rect:
    return box.intersect(bounds) or Rect(bounds.x, bounds.y, 0, 0)
