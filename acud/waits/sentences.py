"""Which sentences say for certain what a local condition says, so that no model is needed to judge them.

The grammar is narrow on purpose: it reads whole sentences. Whatever it does not know (a place, a colour, an order, a
doubt, a second clause that is no condition) is not read away: the sentence stays one for a judge that sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from acud.types import AllOf, AnyOf, ConditionWords, Criteria, JudgeName, Leaf, Then, Until, condition_text
from acud.waits.conditions import leaves, map_leaves
from acud.waits.sentence_joints import ONE_OF, joined
from acud.waits.sentence_phrase import Phrase
from acud.waits.sentence_requests import asked
from acud.waits.sentence_sequences import stages
from acud.waits.sentence_statements import opposite, single

NEEDS_VISION = (
    "this condition needs a judge that sees; set `backend` in [vision] (ACU_VISION_BACKEND) to a vision "
    'backend such as "ollama", or ask for quoted words: "Done" is visible'
)
_LOCAL_JUDGES = (JudgeName.AUTO, JudgeName.OCR)
"""Whoever names another judge wants the sentence judged by that one."""
_WHICHEVER = re.compile(
    r",? ?\(?(?:whichever|whatever)(?: of them| one)? (?:it is|(?:is|comes|happens|occurs|(?P<shows>appears|(?:turns"
    r"|shows|comes|pops) up|is there)) (?:first"
    r"|sooner|earlier))\)?$",
    re.IGNORECASE,
)
_WHICHEVER_FIRST = re.compile(r"whichever (?:of them )?(?:happens|comes|is|appears) first[:,] ", re.IGNORECASE)
_BARE = re.compile(r"(?:^|(?<=, )|(?<=or )|(?<=either ))<\d+>(?=,| or |$)", re.IGNORECASE)
_IN_ORDER = re.compile(r",? in (?:that|this|exactly this|exactly that) order$", re.IGNORECASE)


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
    for part in asked(phrase.text):
        condition = part.condition.removesuffix("?")
        meant = None if "?" in condition else _whole(phrase.with_text(condition))
        meant = opposite(meant) if part.ends else meant
        if meant is not None and (not part.given or _whole(phrase.with_text(part.given)) is not None):
            return meant
    return None


def _whole(phrase: Phrase) -> Until | None:
    """Return the meaning of one clause, of clauses that are all joined by `and` or all by `or`, or of a sequence."""
    if (found := _WHICHEVER.search(phrase.text) or _WHICHEVER_FIRST.match(phrase.text)) is not None:
        of_any = joined(phrase.with_text(phrase.text[: found.start()] or phrase.text[found.end() :]))
        nouns = _BARE.sub(r"the text \g<0>", phrase.text[: found.start()])
        of_any = of_any or joined(phrase.with_text(nouns))
        if of_any is None and found.groupdict().get("shows"):
            of_any = joined(phrase.with_text(f"either {nouns} is there"))
        return of_any if isinstance(of_any, AnyOf) else None
    if (found := _IN_ORDER.search(phrase.text)) is not None:
        ordered = phrase.with_text(phrase.text[: found.start()])
        told = stages(ordered) or joined(ordered)
        if isinstance(told, AllOf):
            return Then(told.parts) if ONE_OF.match(phrase.text) is None else None
        return told if isinstance(told, Then) else None
    return single(phrase) or stages(phrase) or joined(phrase)
