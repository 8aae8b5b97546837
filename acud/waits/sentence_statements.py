"""A statement in one clause: words to leave out, obligations, its opposite, parts shared with another clause."""

from __future__ import annotations

import re

from msgspec.structs import replace

from acud.types import FileState, NotOf, ProcessExit, ScreenNumber, Text, Then, Until, Widget, WindowTitle
from acud.waits.sentence_clauses import read_clause
from acud.waits.sentence_controls import OPPOSITE
from acud.waits.sentence_phrase import Phrase

_PLACE = re.compile(
    r"(?: (?:anywhere|somewhere))? (?:on|in|from) (?:(?:the |my |this |that )?(?:screen|display"
    r"|desktop|computer|laptop|pc|machine)|(?:the|this) page)$"
    r"| (?:anywhere|somewhere)$",
    re.IGNORECASE,
)
_SOON = re.compile(
    r" (?:(?P<short>now|soon|shortly|together)|right now|by now|at some point|in the end|in a (?:(?:few"
    r"|couple of) (?:minutes|seconds|moments)|minute|moment"
    r"|bit|while)|any (?:minute|moment|second|time)(?: now)?|too|as well"
    r"|at (?:once|the same time)|simultaneously)$",
    re.IGNORECASE,
)
_IRREGULAR = {"be": "is", "have": "has", "do": "does", "go": "goes"}
_DUE = re.compile(
    r"\b(?:should|must|ought to|(?:has|have|needs?) to|(?:is|are) (?:supposed |meant )to|to|will|shall)"
    r" (?P<denied>not |no longer )?(?P<verb>(?-i:[a-z]+))\b",
    re.IGNORECASE,
)
"""An obligation, which stands for what to wait for."""
_ANY_MORE = re.compile(r"\bany ?more\b", re.IGNORECASE)
_MOST_WORDS = 40
"""Of a clause that shares its subject or its predicate with another."""


def read_single(phrase: Phrase) -> Until | None:
    """Return the meaning of one clause, with or without words such as `on the screen` and `soon`."""
    is_placed = is_soon = False
    while (meant := read_clause(phrase) or _read_due(phrase)) is None:
        left = _PLACE.search(phrase.text)
        is_placed |= left is not None
        soon = _SOON.search(phrase.text)
        left = left or soon
        if left is None:
            return None
        is_soon |= left is soon and soon["short"] is not None
        phrase = phrase.with_text(phrase.text[: left.start()])
    if is_soon and any(phrase.text.endswith(name) for name in names_in(meant)):
        return None  # what was left out may be a part of the name
    return None if is_placed and isinstance(meant, FileState | ProcessExit) else meant


def names_in(until: Until | None) -> list[str]:
    """Return the names in a condition."""
    return [name for field in ("text", "title", "name", "label") if (name := getattr(until, field, ""))]


def _read_due(phrase: Phrase) -> Until | None:
    """Return the meaning of an obligation, unless that changes a name (`the text Ready to print`)."""
    is_so = phrase.with_text(_DUE.sub(_make_finite, phrase.text))
    meant = read_clause(is_so) if is_so.text != phrase.text else None
    return meant if all(name in phrase.quoted or name in phrase.text for name in names_in(meant)) else None


def _make_finite(due: re.Match[str]) -> str:
    """Turn an obligation into a statement: `should be` into `is`. `must not appear` stays as it is, but with "any more"
    becomes `does not appear`.
    """
    verb, denied = due["verb"].casefold(), due["denied"] or ""
    if denied == "not " and _ANY_MORE.search(due.string) is None:
        return due[0]  # the user may want to know when the forbidden happens
    if verb in _IRREGULAR:
        return f"{_IRREGULAR[verb]} {denied}".strip()
    if denied == "not ":
        return f"does not {verb}"
    third = re.sub(r"(?<=[^aeiou])y$", "ie", verb) + "s"
    return denied + re.sub(r"(?<=sh|ch|ss)s$|(?<=[xz])s$", "es", third)


def is_noun(phrase: Phrase, part: str) -> bool:
    """Return whether a part is only a noun, with its predicate elsewhere."""
    of_host = (read_single(phrase.with_text(f"{part} {said}")) for said in ("is downloaded", "ends"))
    is_shown = read_single(phrase.with_text(f"{part} is visible")) is not None
    return is_shown or any(isinstance(one, FileState | ProcessExit) for one in of_host)


def apply_predicate(phrase: Phrase, noun: str, last: str) -> Until | None:
    """Return the meaning of `noun` with the predicate of the `last` part: "the text <0> or the text <1> disappears"."""
    words = last.split()[:_MOST_WORDS]
    tries = (read_single(phrase.with_text(" ".join([noun, *words[start:]]))) for start in range(1, len(words)))
    known = (
        one
        for one in tries
        if one is not None and all(name in (*phrase.quoted, noun) or name in noun for name in names_in(one))
    )
    told, meant = next(known, None), read_single(phrase.with_text(last))
    return told if getattr(told, "gone", None) == getattr(meant, "gone", None) else None


def apply_to_subject(phrase: Phrase, first: str, rest: str) -> Until | None:
    """Return the meaning of `rest` with the subject of `first`."""
    words = first.split()[:_MOST_WORDS]
    tries = (read_single(phrase.with_text(" ".join([*words[:end], rest]))) for end in range(len(words) - 1, 0, -1))
    has_number = re.search(r"\d|zero", rest) is not None
    return next((one for one in tries if one and (has_number or not isinstance(one, ScreenNumber))), None)


def invert_condition(until: Until | None) -> Until | None:
    """Return the condition that `until` no longer holds."""
    match until:
        case Text() | WindowTitle() | Widget(states=(), value=None):
            return replace(until, gone=not until.gone)
        case FileState(still_s=0.0) | FileState(gone=True):
            return replace(until, still_s=0.0 if until.gone else 1.0, gone=not until.gone)
        case Widget(states=(state,), value=None, gone=False) if state in OPPOSITE:
            return replace(until, states=(OPPOSITE[state],))
        case None | Then():
            return None
    return NotOf(until)
