"""Finding by visible text: the words of the description among the recognised lines, and the control beside them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple, Protocol

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from acud.accessibility.labels import INPUTS
from acud.base.errors import Unavailable
from acud.evaluator.ocr.changes import union
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.match import caseless
from acud.evaluator.ocr.text_layout import TextSegment, segments
from acud.evaluator.view_pixels import ViewPixels
from acud.features.grounding.description_parts import Parts, is_free, parts_of
from acud.features.grounding.evaluator import icon_shapes
from acud.features.grounding.evaluator.drawn_controls import (
    MAX_H_PX,
    Edges,
    field_of,
    is_alone_over,
    mark_of,
    square_mark_of,
)
from acud.features.grounding.evaluator.drawn_items import MARKS, find_icons, find_text_items, find_window_id
from acud.features.grounding.evaluator.method import MethodResult, SearchView
from acud.features.grounding.evaluator.text_likeness import SLIPPED, SURE, likeness, trim
from acud.features.grounding.item_explanation import Explained, find_icon_phrases
from acud.features.grounding.item_match import explain
from acud.features.grounding.screen_items import Surroundings
from acud.features.grounding.visible_words import ShownWords, Sort, shown_words
from acud.features.grounding.widget_words import OF_VERB, WORDS, names_what_is_quoted
from acud.features.grounding.word_likeness import is_same_word, normal, synonyms
from acud.protocol.questions import FindAsk
from acud.types import Rect, WindowInfo, behind_modal, window_at
from acud.types.actions import Point
from acud.types.grounding import TEXT_AREA, Candidate, GroundingMethod, Tried

_PART = 0.85
"""Likeness of a name that is only a part of the text it stands in."""


class LineSource(Protocol):
    """Reads the lines of a view. Raises: Unavailable when its engine fails."""

    async def lines(self, shot: ViewPixels) -> tuple[Line, ...]: ...


class Hit(NamedTuple):
    """Where the wanted words stand, in the shot's pixels. `alone`: they are their whole segment; `label`: the segment's
    box, if they begin it.
    """

    text: str
    box: Rect
    likeness: float
    alone: bool
    confidence: float
    label: Rect | None = None


class TextPlace(NamedTuple):
    """Where to act for a hit. `sure`: nothing about it was guessed. `drawn`: it is drawn as a control."""

    hit: Hit
    box: Rect
    sure: bool
    drawn: bool
    checked: bool | None = None


class OcrMethod:
    """Finds by text. `fuzzy_min`: the likeness from which a text counts as a (doubtful) candidate."""

    name = GroundingMethod.OCR

    def __init__(self, reading: LineSource, fuzzy_min: float, min_confidence: float) -> None:
        self._reading = reading
        self._fuzzy_min = fuzzy_min
        self._min_confidence = min_confidence

    async def find(self, ask: FindAsk, search_view: SearchView) -> MethodResult:
        """Return what the description's words point to; see `GroundingMethodPort`."""
        wanted = shown_words(ask.description, ask.verb)
        try:
            lines = await self._reading.lines(search_view.shot)
        except Unavailable as fault:
            return MethodResult(Tried(self.name, "unavailable", fault.message))
        return await asyncio.to_thread(self._match, wanted, ask, search_view, lines)

    async def close(self) -> None:
        """Do nothing: the engine belongs to the text reader."""

    def _match(self, wanted: ShownWords, ask: FindAsk, search_view: SearchView, lines: Sequence[Line]) -> MethodResult:
        read = [line for line in lines if line.confidence >= self._min_confidence]
        parts = segments(read, search_view.shot.pixels)
        found = (
            self._find_by_words(wanted, ask, search_view, parts)
            if wanted.name and names_what_is_quoted(ask.description)
            else None
        )
        if found is not None and found.tried.outcome == "sure":
            return found
        if ask.verb == "choose" and wanted.sort is Sort.ANY and wanted.name:  # a list's label, if no menu is called so
            listed = self._find_by_words(replace(wanted, sort=Sort.BESIDE), ask, search_view, parts)
            if listed.tried.outcome == "sure":
                return listed
        explained = None if _widgets_are_known(ask) else _find_by_every_word(ask, search_view, parts)
        if found is None or not found.candidates:
            return explained or found or MethodResult(Tried(self.name, "nothing", _NOTHING))
        is_sure = explained is not None and explained.tried.outcome == "sure"
        if explained is not None and is_sure and not _is_of_another_label(wanted, found, explained):
            return explained
        return found

    def _find_by_words(
        self, wanted: ShownWords, ask: FindAsk, search_view: SearchView, parts: Sequence[TextSegment]
    ) -> MethodResult:
        hits = [hit for hit in find_words(wanted, parts, self._fuzzy_min) if _in_window(hit, wanted, ask, search_view)]
        if not wanted.quoted and parts_of(ask.description).number:  # "the last field" is not that of "Last name"
            hits = [hit for hit in hits if hit.alone]
        hits = _prefer_clients(hits, ask, search_view)
        behind = behind_modal(ask.windows)
        hits = [hit for hit in hits if find_window_id(hit.box, search_view.at, ask.windows) not in behind]
        places = place_hits(
            wanted, hits, parts, search_view.shot.pixels, is_typed_into=_is_typed_into(ask, wanted.role)
        )
        return decide(wanted, places, search_view, ask)


def _find_by_every_word(ask: FindAsk, search_view: SearchView, parts: Sequence[TextSegment]) -> MethodResult | None:
    """Return what explains every word of the description by text, drawn controls and icons; None when nothing does."""
    pixels, at = search_view.shot.pixels, search_view.at
    edges = Edges(pixels)
    told = parts_of(ask.description)
    words = {*told.words, *(word for place in told.places for anchor in place.anchors for word in anchor)}
    words = {other for word in words if not is_free(word) for other in (word, *synonyms(word))}
    # A description by place may mean any control beside any text.
    wanted = None if told.places or told.number or told.most else frozenset(words)
    usual = _usual_contrast([part.box for part in parts], pixels)
    pale = frozenset(index for index, part in enumerate(parts) if is_pale(part.box, pixels, usual))
    items = find_text_items(parts, wanted, edges, at, ask.windows, pale, is_typed_into=_is_typed_into(ask, told.kind))
    if WORDS.get(told.kind, frozenset()).isdisjoint(MARKS):
        items = [item for item in items if item.role != "check box"]
    if find_icon_phrases(ask.description):
        items += find_icons(pixels, edges, [p.box for p in parts if len(p.text) > _LETTERS_OF_ICONS], at, ask.windows)
    behind = frozenset() if told.is_behind else behind_modal(ask.windows)
    items = [item for item in items if item.window not in behind]
    titles = {window.window_id: window.title for window in ask.windows}
    # A field for text is drawn: a label alone takes no text.
    explained = explain(ask.description, Surroundings(items, titles), OF_VERB.get(ask.verb))
    if explained.outcome == "nothing":
        return None
    candidates = tuple(_item_candidate(one, search_view, ask) for one in explained.items[: ask.max_candidates])
    if explained.outcome == "ambiguous":
        return MethodResult(
            Tried(GroundingMethod.OCR, "ambiguous", f"{len(candidates)} things fit as well"), candidates
        )
    first = explained.items[0]
    is_sure = (
        explained.outcome == "sure"
        and _is_plain(first, told)
        and not _has_other_meaning(first, ask.description, told, parts)
    )
    return MethodResult(Tried(GroundingMethod.OCR, "sure" if is_sure else "unsure"), candidates)


def _has_other_meaning(one: Explained, description: str, told: Parts, parts: Sequence[TextSegment]) -> bool:
    """Return whether the same words may mean something else: a text with a word of the icon's description ("Add" where
    a button reads "Add contact"), unless the description names an icon; or the field of another label with the same
    text.
    """
    if one.item.names:
        return one.item.role == "entry" and sum(normal(part.text) in one.item.names for part in parts) > 1
    if _ICON_WORDS & set(caseless(description).split()):
        return False
    shown = {trim(word.text) for part in parts for word in part.words}
    return any(not is_free(word) and any(is_same_word(word, own) for own in shown) for word in told.words)


_ICON_WORDS = frozenset({"icon", "sign", "symbol", "glyph", "pictogram", "logo", "picture", "mark"})


def _is_of_another_label(wanted: ShownWords, result: MethodResult, field: MethodResult) -> bool:
    """Return whether `field` belongs to another label of the same meaning, though the exact one was read."""
    is_read = any(likeness(wanted.name, one.label) >= SURE for one in result.candidates)
    is_same = likeness(wanted.name, field.candidates[0].label) >= SURE
    return wanted.sort is Sort.BESIDE and is_read and not is_same


_NOTHING = "nothing that was read fits the description"


def _is_typed_into(ask: FindAsk, kind: str) -> bool:
    """Return whether a field for text is meant, by the instruction's verb or the word for its kind."""
    return ask.verb == "type" or (ask.verb != "choose" and not INPUTS.isdisjoint(WORDS.get(kind, ())))


def _widgets_are_known(ask: FindAsk) -> bool:
    """Return whether the widgets were read: then pixels alone give only a guess."""
    return any(one.method is GroundingMethod.ACCESSIBILITY and one.outcome != "unavailable" for one in ask.before.tried)


def _is_plain(one: Explained, parts: Parts) -> bool:
    """Return whether little of the explanation comes from around the thing, its icon (if any) is a close match, and its
    text has no word that the description lacks ("Open file" is not "file") and is not pale as if disabled.
    """
    said = {other for word in parts.words for other in (word, *synonyms(word))}
    is_whole = not one.item.names or any(
        all(any(is_same_word(word, own) for word in said) for own in name.split()) for name in one.item.names
    )
    if not parts.words:  # described by its place alone: the drawing must be of the kind
        is_whole = one.item.role in WORDS.get(parts.kind, ())
    is_like = max(one.item.shape.values(), default=1.0) >= _SURE_SHAPE
    if parts.kind in _APART:
        return False
    is_usable = one.item.is_enabled or "disabled" in parts.states
    return one.cost <= _SURE_COST and is_like and is_whole and is_usable


_LETTERS_OF_ICONS = 2
"""Engines read icons as at most this many letters: a magnifier as Q, a cross as x."""
_SURE_COST = 0.95
_SURE_SHAPE = icon_shapes.SURE
"""The least likeness of an icon that only its shape explains."""


def _item_candidate(one: Explained, search_view: SearchView, ask: FindAsk) -> Candidate:
    point = _middle_of(one.item.box, search_view.at)
    window = window_at(ask.windows, point.x, point.y)
    return Candidate(
        point=point,
        box=one.item.box.shift(search_view.at.x, search_view.at.y),
        confidence=round(max(0.5, 1 - one.cost / 3), 3),
        method=GroundingMethod.OCR,
        label=" ".join(one.item.names) or ", ".join(one.item.shape),
        role=TEXT_AREA if one.item.role == "entry" and one.item.box.h > MAX_H_PX else one.item.role,
        window=window.title if window is not None else "",
        checked=one.item.is_checked if one.item.role == "check box" else None,
    )


def find_words(wanted: ShownWords, parts: Sequence[TextSegment], fuzzy_min: float) -> list[Hit]:
    """Return where the name stands, top to bottom; only the hits of the best kind of match."""
    names = [wanted.name] if wanted.whole == wanted.name else [wanted.whole, wanted.name]
    for name in names:  # what is itself called "New folder" is no folder called New
        hits = _find_name(name, parts, fuzzy_min)
        if any(hit.alone and hit.likeness >= SURE for hit in hits) or name == wanted.name:
            return hits
    return []


def _find_name(name: str, parts: Sequence[TextSegment], fuzzy_min: float) -> list[Hit]:
    whole = [_match_whole(name, part) for part in parts]
    best = max((hit.likeness for hit in whole), default=0.0)
    if best >= SURE:
        # Letters that look alike are the engine's doubt: as good as the same, where nothing reads the very same.
        return [hit for hit in whole if hit.likeness >= best]
    inner = [hit for part in parts for hit in _match_inside(name, part)]
    if inner:
        return inner
    return [hit for hit in whole if hit.likeness >= fuzzy_min]


def _match_whole(name: str, part: TextSegment) -> Hit:
    """Return the segment as a hit. Single signs at its ends are icons read as text: the cross of a tab."""
    like = likeness(name, part.text)
    words = part.words
    while len(words) > 1 and len(words[-1].text) == 1 and not words[-1].text.isdigit():
        words = words[:-1]
    while len(words) > 1 and len(first := words[0].text) == 1 and (first.upper() in _READ_ICONS or not first.isalnum()):
        words = words[1:]
    if like >= SURE or len(words) == len(part.words):
        return Hit(part.text, part.box, like, True, part.confidence)
    text = " ".join(word.text for word in words)
    box = reduce(union, (word.box for word in words))
    bare = likeness(name, text)
    if bare < SURE:
        return Hit(part.text, part.box, like, True, part.confidence)
    return Hit(text, box, bare, True, part.confidence)


_READ_ICONS = frozenset("QO©®×XV+-☰")
"""What engines read for a magnifier, a mark, a cross or an arrow before words."""


def _match_inside(name: str, part: TextSegment) -> list[Hit]:
    """Return where the words of `name` stand in sequence in a longer segment."""
    count = len(trim(name).split())
    if count == 0 or count >= len(part.words):
        return []
    found = []
    for first in range(len(part.words) - count + 1):
        run = part.words[first : first + count]
        text = " ".join(word.text for word in run)
        if likeness(name, text) >= SLIPPED:
            box = reduce(union, (word.box for word in run))
            found.append(Hit(text, box, _PART, False, part.confidence, None if first else part.box))
    return found


def _in_window(hit: Hit, wanted: ShownWords, ask: FindAsk, search_view: SearchView) -> bool:
    if not wanted.window:
        return True
    window = _window_of(hit, ask, search_view)
    return window is not None and wanted.window.casefold() in window.title.casefold()


def _prefer_clients(hits: list[Hit], ask: FindAsk, search_view: SearchView) -> list[Hit]:
    """Return the hits inside windows, if there are any: the title in a window's frame is not its content."""
    inside = [hit for hit in hits if _window_of(hit, ask, search_view) is not None]
    return inside or hits


def _window_of(hit: Hit, ask: FindAsk, search_view: SearchView) -> WindowInfo | None:
    point = _middle_of(hit.box, search_view.at)
    found = window_at(ask.windows, point.x, point.y)
    return found if found is not None and found.bounds.holds(point.x, point.y) else None  # a title bar is in none


def _middle_of(box: Rect, at: Rect) -> Point:
    return Point(at.x + box.x + box.w // 2, at.y + box.y + box.h // 2)


def place_hits(
    wanted: ShownWords,
    hits: Sequence[Hit],
    parts: Sequence[TextSegment],
    pixels: NDArray[np.uint8],
    *,
    is_typed_into: bool,
) -> list[TextPlace]:
    """Return where to act for each hit: on the words, on the control drawn around them, or on the field beside them.

    `is_typed_into`: as for `field_of`.
    """
    if not hits:
        return []
    edges = Edges(pixels)
    texts = [part.box for part in parts]
    if wanted.sort is Sort.BESIDE:
        found = [(hit, field_of(hit.label or hit.box, texts, edges, is_typed_into=is_typed_into)) for hit in hits]
        lacks = any(near is None and hit.alone for hit, near in found)  # the same label, its field not found
        beside = [(hit, near) for hit, near in found if near is not None]
        is_only = len(beside) == 1 and beside[0][0].label is not None  # "City" for "City of birth", where it is alone
        return [
            TextPlace(
                hit, near.box, near.sure and (hit.alone or is_only) and not lacks and wanted.role != "slider", True
            )
            for hit, near in beside
        ] or [TextPlace(hit, hit.box, False, False) for hit in hits]
    if wanted.role in _TICKED:
        return [_place_on_mark(hit, edges) for hit in hits]
    usual = _usual_contrast(texts, pixels)
    return [
        place._replace(sure=place.sure and not is_pale(place.hit.box, pixels, usual))
        for place in (_place_on_label(wanted, hit, texts, edges) for hit in hits)
    ]


def is_pale(box: Rect, pixels: NDArray[np.uint8], usual: float) -> bool:
    """Return whether the text in `box` has much less contrast than `usual`, as that of disabled controls."""
    return contrast_of(box, pixels) < _PALE * usual


def contrast_of(box: Rect, pixels: NDArray[np.uint8]) -> float:
    """Return how far the ink of the text in `box` is from its ground, 0 to 255."""
    part = pixels[max(box.y, 0) : box.bottom, max(box.x, 0) : box.right, :3].reshape(-1, 3).astype(np.int16)
    if not len(part):
        return 0.0
    ground = np.median(part, axis=0)
    return float(np.percentile(np.abs(part - ground).max(axis=1), _INK_SHARE))


def _usual_contrast(texts: Sequence[Rect], pixels: NDArray[np.uint8]) -> float:
    return float(np.median([contrast_of(box, pixels) for box in texts])) if texts else 0.0


_PALE = 0.68
_INK_SHARE = 97
"""The percentile of the differences from the ground that is ink: strokes are thin, and a box holds more ground."""


def _place_on_label(wanted: ShownWords, hit: Hit, texts: Sequence[Rect], edges: Edges) -> TextPlace:
    """Return the place for a name that may be a label: the field beside it if there surely is one, else the words."""
    own = _place_on_words(wanted, hit, edges.around(hit.box))
    if wanted.sort is not Sort.ANY or own.drawn or not own.sure or not hit.alone:
        return own
    mark = square_mark_of(hit.box, edges)
    if mark is not None:
        return TextPlace(hit, mark, True, True)
    near = field_of(hit.box, texts, edges)
    if near is None or not near.sure:
        return own
    # Of several words in a row over a field, as on a bar of tools, none is its label.
    is_label = near.box.y < hit.box.bottom - hit.box.h // 2 or is_alone_over(hit.box, near.box, texts)
    return TextPlace(hit, near.box, True, True) if is_label else own


def _place_on_mark(hit: Hit, edges: Edges) -> TextPlace:
    """Return the mark of a check box or radio button: every toolkit reacts to a click on it."""
    square = square_mark_of(hit.box, edges)
    mark = square or mark_of(hit.box, edges)
    sure = mark is not None and hit.alone and hit.likeness >= SURE
    checked = edges.is_marked(square) if square is not None else None
    return TextPlace(hit, mark or hit.box, sure, mark is not None, checked)


def _place_on_words(wanted: ShownWords, hit: Hit, box: Rect | None) -> TextPlace:
    meant = hit.alone or wanted.sort is Sort.WORDS or (wanted.quoted and wanted.sort is Sort.ANY)
    meant = meant and wanted.role not in _APART
    fits = box is not None and box.w <= hit.box.w + _PADDING_PX and box.h <= 3 * hit.box.h
    return TextPlace(
        hit, box if box is not None and fits else hit.box, meant and (hit.likeness >= SURE or not hit.alone), fits
    )


def decide(wanted: ShownWords, places: Sequence[TextPlace], search_view: SearchView, ask: FindAsk) -> MethodResult:
    first: dict[Rect, TextPlace] = {}
    for place in places:
        first.setdefault(place.box, place)
    kept = list(first.values())
    candidates = tuple(_make_candidate(place, wanted, search_view, ask) for place in kept)
    name = GroundingMethod.OCR
    if not kept:
        return MethodResult(Tried(name, "nothing", f"no text fits {wanted.name!r}"))
    if len(kept) == 1:
        return MethodResult(Tried(name, "sure" if kept[0].sure else "unsure"), candidates)
    drawn = [i for i, place in enumerate(kept) if place.drawn and place.sure]
    if wanted.sort is Sort.OWN and wanted.role in _BOXED and len(drawn) == 1:
        return MethodResult(Tried(name, "sure"), (candidates[drawn[0]],))
    if not any(place.sure for place in kept):
        return MethodResult(Tried(name, "unsure", f"{len(kept)} texts are like {wanted.name!r}"), candidates)
    return MethodResult(Tried(name, "ambiguous", f"{len(kept)} texts fit {wanted.name!r}"), candidates)


_PADDING_PX = 160
"""A button is wider than its words by this at most; a wider box is the row or bar around them."""
_TICKED = ("check box", "checkbox", "radio button", "radio")
_APART = ("switch", "toggle")
"""Controls that may stand far from their names."""
_BOXED = ("button", "push button", "toggle button", "tool button")


def _make_candidate(place: TextPlace, wanted: ShownWords, search_view: SearchView, ask: FindAsk) -> Candidate:
    box = place.box.shift(search_view.at.x, search_view.at.y)
    point = _middle_of(place.box, search_view.at)
    window = window_at(ask.windows, point.x, point.y)
    role = TEXT_AREA if wanted.sort is Sort.BESIDE and box.h > MAX_H_PX else wanted.role
    return Candidate(
        point=point,
        box=box,
        confidence=round(min(place.hit.likeness, 1.0) * place.hit.confidence * (1.0 if place.sure else 0.7), 3),
        method=GroundingMethod.OCR,
        label=place.hit.text,
        role=role if place.drawn else "",
        window=window.title if window is not None else "",
        checked=place.checked,
    )
