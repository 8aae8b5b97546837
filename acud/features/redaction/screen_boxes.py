"""Where redacted things are on a screen: the boxes of secrets in lines that were read, of windows, and of regions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from acud.features.redaction.spans import RedactedSpan, Rule, looks_random, merge_spans
from acud.features.redaction.text_rules import TextRules, find, without
from acud.patterns import Pattern, compiled
from acud.types import HiddenBox, Rect, RedactedText, WindowInfo


class ReadLine(NamedTuple):
    """A piece of text on one row, and its box in the view."""

    text: str
    box: Rect


class _Piece(NamedTuple):
    start: int
    end: int
    row: int
    line: ReadLine


_NARROW = frozenset("iljtfrI|!.,:;'`()[]{} 1")
_WIDE = frozenset("mwMW@%")
_WORD = re.compile(r"[A-Za-z0-9_+/=.~-]{4,}+")
_PAD_Y_PX = 3


def hidden_in(rows: Sequence[Sequence[ReadLine]], rules: TextRules, bounds: Rect) -> list[HiddenBox]:
    """Return the boxes that hide what `rules` find in the lines of a view, given as rows in reading order.

    `bounds`: the view. The time of the user's own patterns is for the caller to bound.
    """
    text, pieces = _page(rows)
    hidden: list[HiddenBox] = []
    for span, touched, continued in _finds(text, pieces, rules):
        hidden += _boxes(span, touched, len(text), bounds)
        hidden += (HiddenBox(Rule.KEY.value, _part(below, below.start, end, bounds)) for below, end in continued)
    return hidden


def masked_in(rows: Sequence[Sequence[ReadLine]], rules: TextRules) -> list[RedactedText]:
    """Return the lines' texts, row by row, without what `rules` find in them; see `hidden_in`."""
    text, pieces = _page(rows)
    spans: dict[_Piece, list[RedactedSpan]] = {piece: [] for piece in pieces}
    for span, touched, continued in _finds(text, pieces, rules):
        for piece in touched:
            start, end = max(span.start, piece.start), min(span.end, piece.end)
            spans[piece].append(RedactedSpan(start - piece.start, end - piece.start, span.rule))
        for below, end in continued:
            spans[below].append(RedactedSpan(0, end - below.start, Rule.KEY))
    return [_masked(piece.line.text, merge_spans(found)) for piece, found in spans.items()]


def _masked(text: str, spans: Sequence[RedactedSpan]) -> RedactedText:
    weightiest = min((span.rule for span in spans), key=list(Rule).index, default=None)
    return RedactedText(without(text, spans), weightiest.value if weightiest is not None else "")


def _finds(
    text: str, pieces: list[_Piece], rules: TextRules
) -> Iterator[tuple[RedactedSpan, list[_Piece], list[tuple[_Piece, int]]]]:
    """Yield what `rules` find, the pieces that it touches, and those that go on with a key, each up to where."""
    for span in find(text, rules, read=True):
        touched = [piece for piece in pieces if piece.start < span.end and piece.end > span.start]
        goes_on = span.rule is Rule.KEY and touched and span.end >= touched[-1].end
        yield span, touched, list(_continued(touched[-1], pieces)) if goes_on else []


def _page(rows: Sequence[Sequence[ReadLine]]) -> tuple[str, list[_Piece]]:
    """Return all rows as one text (a line break first and after each, tabs between boxes), and its pieces."""
    parts, pieces, at = ["\n"], [], 1
    for number, row in enumerate(rows):
        for place, line in enumerate(row):
            clean = line.text.replace("\n", " ").replace("\t", " ")
            end = "\n" if place == len(row) - 1 else "\t"
            pieces.append(_Piece(at, at + len(clean), number, line))
            parts += (clean, end)
            at += len(clean) + 1
    return "".join(parts), pieces


def _boxes(span: RedactedSpan, touched: Sequence[_Piece], length: int, bounds: Rect) -> Iterator[HiddenBox]:
    if (touched and touched[0].row != touched[-1].row) or (
        span.rule is Rule.PRIVATE and (span.start == 0 or span.end == length)
    ):
        yield HiddenBox(span.rule.value, _band(span, touched, length, bounds))
    else:
        for piece in touched:
            yield HiddenBox(span.rule.value, _part(piece, span.start, span.end, bounds))


def _band(span: RedactedSpan, touched: Sequence[_Piece], length: int, bounds: Rect) -> Rect:
    """Return the box over several rows. A private one is as wide as the view: a line in it may not have been read.

    One that was cut off goes to the edge of the view.
    """
    boxes = [piece.line.box for piece in touched] or [bounds]
    top, bottom = min(box.y for box in boxes) - _PAD_Y_PX, max(box.bottom for box in boxes) + _PAD_Y_PX
    if span.rule is not Rule.PRIVATE:
        left, right = min(box.x for box in boxes), max(box.right for box in boxes)
        return _inside(Rect(left - _PAD_Y_PX, top, right - left + 2 * _PAD_Y_PX, bottom - top), bounds)
    top = bounds.y if span.start == 0 else top
    bottom = bounds.bottom if span.end == length else bottom
    return _inside(Rect(bounds.x, top, bounds.w, bottom - top), bounds)


def _part(piece: _Piece, start: int, end: int, bounds: Rect) -> Rect:
    """Return the box of text[start:end] within a line, a letter wider on each side than letters are likely to be."""
    text, box = piece.line.text, piece.line.box
    first, last = max(0, start - piece.start), min(len(text), end - piece.start)
    even = (first / len(text), last / len(text))
    shares = [_share(c) for c in text]
    whole = sum(shares)
    uneven = (sum(shares[:first]) / whole, sum(shares[:last]) / whole)
    pad = max(box.w / len(text), box.h / 3) + 2
    left = box.x + min(even[0], uneven[0]) * box.w - pad
    right = box.x + max(even[1], uneven[1]) * box.w + pad
    left = box.x - _PAD_Y_PX if first == 0 else left
    right = box.right + _PAD_Y_PX if last == len(text) else right
    return _inside(Rect(int(left), box.y - _PAD_Y_PX, int(right - left) + 1, box.h + 2 * _PAD_Y_PX), bounds)


def _share(c: str) -> float:
    return 0.5 if c in _NARROW else 1.5 if c in _WIDE else 1.2 if c.isupper() else 1.0


def _continued(last: _Piece, pieces: Sequence[_Piece]) -> Iterator[tuple[_Piece, int]]:
    """Yield the lines right below whose first word goes on with a key that a terminal broke, and where that ends."""
    while (below := _below(last, pieces)) is not None:
        word = _WORD.match(below.line.text)
        if word is None or not _goes_on(word[0]):
            return
        yield below, below.start + word.end()
        if word.end() < len(below.line.text):
            return
        last = below


def _below(piece: _Piece, pieces: Sequence[_Piece]) -> _Piece | None:
    box = piece.line.box
    return next(
        (
            other
            for other in pieces
            if other.row == piece.row + 1
            and other.line.box.x <= box.right
            and other.line.box.right >= box.x
            and other.line.box.y - box.bottom < box.h
        ),
        None,
    )


def _goes_on(word: str) -> bool:
    return looks_random(word) or (any(c.isdigit() for c in word) and any(c.isalpha() for c in word)) or len(word) >= 16


def _inside(box: Rect, bounds: Rect) -> Rect:
    return box.intersect(bounds) or Rect(bounds.x, bounds.y, 0, 0)


_TITLE_CHARS = 300
"""As much of a title as a pattern is tried on: titles are written by strangers."""


class WindowRule(NamedTuple):
    """Windows whose title and class both fit; None fits every one. Case is ignored."""

    title: Pattern | None
    wm_class: Pattern | None

    def fits(self, window: WindowInfo) -> bool:
        return _fits(self.title, window.title) and _fits(self.wm_class, window.wm_class)


class RegionRule(NamedTuple):
    """A box of a display, in its pixels; display "" is every one."""

    display: str
    box: Rect


class PlaceRules(NamedTuple):
    """Every rule that names places."""

    windows: tuple[WindowRule, ...] = ()
    regions: tuple[RegionRule, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.windows or self.regions)


def window_rule(title: str, wm_class: str) -> WindowRule:
    """Return the rule of two patterns, "" for any. Raises: PatternFault."""
    return WindowRule(*(compiled(words, ignore_case=True) if words else None for words in (title, wm_class)))


def _fits(pattern: Pattern | None, text: str) -> bool:
    return pattern is None or pattern.search(text[:_TITLE_CHARS]) is not None


def hidden_windows(rules: PlaceRules, windows: Iterable[WindowInfo]) -> tuple[WindowInfo, ...]:
    """Return the windows that a rule names and that have pixels."""
    shown = (window for window in windows if window.visibility != "unmapped")
    return tuple(window for window in shown if any(rule.fits(window) for rule in rules.windows))


def on_display(rules: PlaceRules, display: str, windows: Iterable[WindowInfo]) -> tuple[HiddenBox, ...]:
    """Return the boxes of regions and of (already chosen) `windows`, in the display's pixels.

    A window counts whole, also where another covers it: what is above may be shaped, or see-through.
    """
    boxes = [HiddenBox(Rule.REGION.value, rule.box) for rule in rules.regions if rule.display in ("", display)]
    return (*boxes, *(HiddenBox(Rule.WINDOW.value, window.bounds) for window in windows))


def on_window(
    rules: PlaceRules, display: str, window: WindowInfo, hidden: Sequence[WindowInfo]
) -> tuple[HiddenBox, ...]:
    """Return the boxes in the pixels of one window's own picture: all of it, when it is hidden itself."""
    if any(other.window_id == window.window_id for other in hidden):
        return (HiddenBox(Rule.WINDOW.value, Rect(0, 0, window.bounds.w, window.bounds.h)),)
    return tuple(
        HiddenBox(found.rule, found.box.moved(-window.bounds.x, -window.bounds.y))
        for found in on_display(rules, display, ())
    )
