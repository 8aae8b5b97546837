"""Which sentences say for certain what a local condition says, so that no model is needed to judge them.

The grammar is narrow on purpose: it reads whole sentences. Whatever it does not know (a place, a colour, an order, a
doubt, a second clause that is no condition) is not read away: the sentence stays one for a judge that sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from acud.types import (
    AllOf,
    AnyOf,
    ConditionWords,
    Criteria,
    JudgeName,
    Leaf,
    NotOf,
    Text,
    Then,
    Until,
    Widget,
    WindowTitle,
    condition_text,
)
from acud.waits.conditions import leaves, map_leaves
from acud.waits.sentence_clauses import Phrase, clause

NEEDS_VISION = (
    "this condition needs a judge that sees; set `backend` in [vision] (ACU_VISION_BACKEND) to a vision "
    'backend such as "ollama", or ask for quoted words: "Done" is visible'
)
_LOCAL_JUDGES = (JudgeName.AUTO, JudgeName.OCR)
"""Whoever names another judge wants the sentence judged by that one."""
_MOST_PARTS = 4


def with_meanings(until: Until, judge: str = JudgeName.AUTO) -> Until:
    """Return `until` with each sentence that is certain replaced by the condition that it means, for these judges."""
    if judge not in _LOCAL_JUDGES:
        return until
    return map_leaves(until, lambda leaf: _meaning_in(until, leaf) or leaf)


def meaning_notes(until: Until, judge: str) -> Iterator[str]:
    """Yield for each sentence that is certain how it is read."""
    for leaf in leaves(until) if judge in _LOCAL_JUDGES else ():
        meant = _meaning_in(until, leaf)
        if meant is not None:
            yield f"read as: {condition_text(meant, ConditionWords.SENTENCE)}; no model is asked"


def _meaning_in(whole: Until, leaf: Leaf) -> Until | None:
    """Return the meaning of a sentence in `whole`, of which only the whole may be a sequence; None for other leaves."""
    meant = meaning(leaf.criteria) if isinstance(leaf, Criteria) else None
    return None if isinstance(meant, Then) and leaf is not whole else meant


def meaning(sentence: str) -> Until | None:
    """Return the condition that `sentence` means, None where that is not certain."""
    phrase = Phrase.of(sentence)
    if phrase is None:
        return None
    if (ended := _WHILE.match(phrase.text)) is not None:
        return _opposite(_whole(phrase.cut(ended.end())))
    opened = _OPENING.match(phrase.text)
    return _whole(phrase.cut(opened.end()) if opened else phrase)


# ---- sentences -----------------------------------------------------------------------------------------------------

_ASK = (
    r"(?:(?:please |kindly )?(?:(?:could|can|would|will) you (?:please )?"
    r"|i(?: want| need|'d like| would like)(?: you)? to )?"
    r"(?:please )?(?:wait|hold on|hold off|stand by|pause|watch|check|know"
    r"|tell me|let me know|notify me|alert me|ping me|poke me|"
    r"inform me|warn me|remind me|wake me(?: up)?|say so|shout|give me (?:a"
    r" shout|a ping|a heads-up)|come back|continue|go on|report)"
    r"(?: back| here)?,? )"
)
_OPENING = re.compile(
    rf"{_ASK}?(?:until you see|until|till|'til|for|when|whenever|once|as soon as|if|the moment|the minute|the second) "
    r"|(?:please )?(?:do not|don't) (?:come back|continue|go on|return|wake me(?: up)?) (?:before|until) "
    r"|(?:please )?wait (?=the |a |<)",
    re.IGNORECASE,
)
_WHILE = re.compile(r"(?:please )?(?:wait|hold on|hold off|pause) (?:as long as|while) ", re.IGNORECASE)
_PLACE = re.compile(
    r"(?: (?:anywhere|somewhere))? (?:on|in) (?:the |my )?(?:screen|display|desktop)$| (?:now|anywhere|somewhere)$",
    re.IGNORECASE,
)
_LATER = re.compile(r",? (?:(?:and )?(?:then|after that|afterwards|later)|followed by) ", re.IGNORECASE)
_FIRST = re.compile(r"first,? ", re.IGNORECASE)
_JOINED = (
    (re.compile(r",? (?:and(?: also)?|as well as) |(?<=>), (?=<)", re.IGNORECASE), AllOf),
    (re.compile(r",? or |(?<=>), (?=<)", re.IGNORECASE), AnyOf),
)
_EITHER = re.compile(r"(?:either|both) ", re.IGNORECASE)
_BARE = re.compile(r"<\d+>")


def _whole(phrase: Phrase) -> Until | None:
    """Return the meaning of one clause, of clauses that are all joined by `and` or all by `or`, or of a sequence."""
    single = _single(phrase)
    if single is not None:
        return single
    stages = _stages(phrase)
    if stages is not None:
        return stages
    for joint, join in _JOINED:
        parts = joint.split(_EITHER.sub("", phrase.text, count=1))
        if 1 < len(parts) <= _MOST_PARTS:
            meant = [_single(phrase.with_text(part)) for part in _completed(parts)]
            known = tuple(one for one in meant if one is not None)
            return join(known) if len(known) == len(parts) else None
    return None


def _single(phrase: Phrase) -> Until | None:
    """Return the meaning of one clause, whether or not it says that it is about the screen."""
    while (meant := clause(phrase)) is None:
        placed = _PLACE.search(phrase.text)
        if placed is None:
            return None
        phrase = phrase.with_text(phrase.text[: placed.start()])
    return meant


def _completed(parts: list[str]) -> list[str]:
    """Return the clauses with what they share: in `"A" or "B" appears`, and in `it says "A" or "B"`, both do."""
    first, last = parts[0], parts[-1]
    if (shared := re.fullmatch(r"(?:the |a )?<\d+> (.+)", last)) is not None:
        return [f"{part} {shared[1]}" if _BARE.fullmatch(part) else part for part in parts]
    if _BARE.fullmatch(last) and len(_BARE.findall(first)) == 1 and first.endswith(">"):
        return [_BARE.sub(part, first) if _BARE.fullmatch(part) else part for part in parts]
    return parts


def _stages(phrase: Phrase) -> Until | None:
    """Return the meaning of `first …, then …`: what comes later may leave out its subject, or call it `it`."""
    first, *later = _LATER.split(_FIRST.sub("", phrase.text, count=1))
    if not later or len(later) >= _MOST_PARTS:
        return None
    meant = [_single(phrase.with_text(first))]
    for part in later:
        rest = re.sub(r"^it (?=\S)", "", part.removesuffix(" again"))
        whole = _single(phrase.with_text(part))
        meant.append(whole if whole is not None else _of_subject(phrase, first.split(), rest))
    known = tuple(one for one in meant if one is not None)
    return Then(known) if len(known) == len(meant) else None


def _of_subject(phrase: Phrase, words: list[str], rest: str) -> Until | None:
    """Return the meaning of `rest` said of what `words` begin with."""
    tries = (_single(phrase.with_text(" ".join([*words[:end], rest]))) for end in range(len(words) - 1, 0, -1))
    return next((meant for meant in tries if meant is not None), None)


def _opposite(until: Until | None) -> Until | None:
    """Return the condition that what was said holds no longer."""
    match until:
        case Text() | WindowTitle() | Widget(states=(), value=None):
            return replace(until, gone=not until.gone)
        case None | Then():
            return None
    return NotOf(until)
