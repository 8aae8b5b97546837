"""The condition that a sentence means. The grammar takes about a second to compile, so `sentences` imports it late."""

from __future__ import annotations

import re

from acud.types import AllOf, AnyOf, Then, Until
from acud.waits.sentence_joints import ONE_OF, read_joined
from acud.waits.sentence_phrase import Phrase
from acud.waits.sentence_requests import find_conditions
from acud.waits.sentence_sequences import read_sequence
from acud.waits.sentence_statements import invert_condition, read_single

_WHICHEVER = re.compile(
    r",? ?\(?(?:whichever|whatever)(?: of them| one)? (?:it is|(?:is|comes|happens|occurs|(?P<shows>appears|(?:turns"
    r"|shows|comes|pops) up|is there)) (?:first"
    r"|sooner|earlier))\)?$",
    re.IGNORECASE,
)
_WHICHEVER_FIRST = re.compile(r"whichever (?:of them )?(?:happens|comes|is|appears) first[:,] ", re.IGNORECASE)
_BARE = re.compile(r"(?:^|(?<=, )|(?<=or )|(?<=either ))<\d+>(?=,| or |$)", re.IGNORECASE)
_IN_ORDER = re.compile(r",? in (?:that|this|exactly this|exactly that) order$", re.IGNORECASE)


def meaning(sentence: str) -> Until | None:
    """Return the condition that `sentence` means, None if that is not certain."""
    phrase = Phrase.from_sentence(sentence)
    if phrase is None:
        return None
    for part in find_conditions(phrase.text):
        condition = part.condition.removesuffix("?")
        meant = None if "?" in condition else _read_whole(phrase.with_text(condition))
        meant = invert_condition(meant) if part.ends else meant
        if meant is not None and (not part.given or _read_whole(phrase.with_text(part.given)) is not None):
            return meant
    return None


def _read_whole(phrase: Phrase) -> Until | None:
    """Return the meaning of one clause, of clauses that are all joined by `and` or all by `or`, or of a sequence."""
    if (found := _WHICHEVER.search(phrase.text) or _WHICHEVER_FIRST.match(phrase.text)) is not None:
        of_any = read_joined(phrase.with_text(phrase.text[: found.start()] or phrase.text[found.end() :]))
        nouns = _BARE.sub(r"the text \g<0>", phrase.text[: found.start()])
        of_any = of_any or read_joined(phrase.with_text(nouns))
        if of_any is None and found.groupdict().get("shows"):
            of_any = read_joined(phrase.with_text(f"either {nouns} is there"))
        return of_any if isinstance(of_any, AnyOf) else None
    if (found := _IN_ORDER.search(phrase.text)) is not None:
        ordered = phrase.with_text(phrase.text[: found.start()])
        told = read_sequence(ordered) or read_joined(ordered)
        if isinstance(told, AllOf):
            return Then(told.parts) if ONE_OF.match(phrase.text) is None else None
        return told if isinstance(told, Then) else None
    return read_single(phrase) or read_sequence(phrase) or read_joined(phrase)
