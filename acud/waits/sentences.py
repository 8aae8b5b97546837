"""Which sentences surely mean a local condition, so that no model is needed to judge them.

The grammar is narrow on purpose: it reads whole sentences. It never skips what it does not know (a place, a colour, an
order, a doubt, a second clause that is no condition): such a sentence is left to a vision judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec.structs import replace

from acud.types import (
    AllOf,
    AnyOf,
    ConditionWords,
    Criteria,
    JudgeName,
    Leaf,
    ScreenNumber,
    Then,
    Until,
    condition_text,
)
from acud.waits.condition_tree import leaves, map_leaves
from acud.waits.sentence_clauses import read_clause
from acud.waits.sentence_grammar import grammar
from acud.waits.sentence_phrase import PLACEHOLDER, Phrase

NEEDS_VISION = (
    "this condition needs a judge that sees; set `backend` in [vision] (ACU_VISION_BACKEND) to a vision "
    'backend such as "ollama"'
)
_LOCAL_JUDGES = (JudgeName.AUTO, JudgeName.OCR)
"""A client that names another judge wants the sentence judged by that one."""


def with_meanings(until: Until, judge: str = JudgeName.AUTO) -> Until:
    """Return `until` with the condition it means for each certain sentence, if `judge` reads text locally."""
    if judge not in _LOCAL_JUDGES:
        return until
    return map_leaves(until, lambda leaf: _find_meaning(until, leaf) or leaf)


def meaning_notes(until: Until, judge: str) -> Iterator[str]:
    """Yield for each certain sentence how it is read."""
    for leaf in leaves(until) if judge in _LOCAL_JUDGES else ():
        meant = _find_meaning(until, leaf)
        if meant is not None:
            asked = any(isinstance(one, ScreenNumber) and one.sentence for one in leaves(meant))
            else_asked = " while that number can be read for certain" if asked else ""
            yield f"read as: {condition_text(meant, ConditionWords.SENTENCE)}; no model is asked{else_asked}"


def _find_meaning(whole: Until, leaf: Leaf) -> Until | None:
    """Return the meaning of a sentence in `whole` (a sequence only as the whole); None for other leaves."""
    meant = read_sentence(leaf.criteria) if isinstance(leaf, Criteria) else None
    if isinstance(meant, Then):
        return meant if leaf is whole else None
    if meant is None or not isinstance(leaf, Criteria):
        return None
    words = leaf.criteria  # for a model, where the number cannot be read
    return map_leaves(meant, lambda one: replace(one, sentence=words) if isinstance(one, ScreenNumber) else one)


_MOST_PARTS = 4
_MOST_CLOSINGS = 2
_JOINTS = tuple((re.compile(rf",? {word} |, "), word, join) for word, join in (("or", AnyOf), ("and", AllOf)))
_BOTH = {"either": AnyOf, "both": AllOf}
_FIRST_OF_TWO = re.compile(r",? whichever (?:comes|is|happens|appears) first")
_LATER = re.compile(r"[,;]? (?:and )?(?:then|after that|afterwards)(?:,? (?:wait )?(?:for|until)| that)? ")
_IT = re.compile(r"(?:it|that) ")


@lru_cache(maxsize=64)  # a new wait needs its meaning, and then words for it
def read_sentence(sentence: str) -> Until | None:
    """Return what `sentence` certainly means, else None: a clause, clauses joined by `and` or `or`, or a sequence."""
    phrase = Phrase.from_sentence(sentence)
    for text in _strip_closings(phrase.text) if phrase is not None else ():
        for condition in _strip_opening(text):
            if phrase is not None and (meant := _read_condition(phrase.with_text(condition))) is not None:
                return meant
    return None


def _strip_closings(text: str) -> Iterator[str]:
    """Yield `text`, and what is left of it without its closings, one by one."""
    yield text
    for _ in range(_MOST_CLOSINGS):
        found = grammar().closing.fullmatch(text)
        if found is None:
            return
        text = text[: found.start("end")]
        yield text


def _strip_opening(text: str) -> Iterator[str]:
    """Yield `text`, and what stands behind `tell me when`; `wait for X` waits until X is there."""
    yield text
    if (opening := grammar().opening.match(text)) is not None:
        yield (rest := text[opening.end() :])
        if opening["there"]:
            yield f"there is {rest}"


def _read_condition(phrase: Phrase) -> Until | None:
    if (last := _FIRST_OF_TWO.search(phrase.text)) is not None and last.end() == len(phrase.text):
        any_of = _read_joined(phrase.with_text(phrase.text[: last.start()]))
        return any_of if isinstance(any_of, AnyOf) else None
    return read_clause(phrase) or _read_sequence(phrase) or _read_joined(phrase)


def _read_joined(phrase: Phrase) -> Until | None:
    """Return the meaning of clauses that are all joined by `and`, or all by `or`; quotes may share a predicate."""
    before, _, rest = phrase.text.partition(" ")
    asked = _BOTH.get(before.casefold())
    text = phrase.text if asked is None else rest
    for joint, word, join in _JOINTS:
        if f" {word} " not in text or (asked is not None and asked is not join):
            continue
        parts = joint.split(text)
        shared = _share_words(parts)
        is_odd = any(map(grammar().negated.match, parts[:-1])) and (join is AnyOf or shared == parts)
        known = () if is_odd else _read_all(phrase, shared)
        return join(known) if known else None
    return None


def _read_all(phrase: Phrase, parts: list[str]) -> tuple[Until, ...]:
    """Return the meaning of each clause, () if one has none. One that is only a noun may lack the others' predicate."""
    known = [one for part in parts if (one := read_clause(phrase.with_text(part))) is not None]
    is_noun = [grammar().noun.fullmatch(part) is not None for part in parts]
    is_mixed = any(is_noun) and not all(is_noun)
    return tuple(known) if len(known) == len(parts) <= _MOST_PARTS and not is_mixed else ()


def _share_words(parts: list[str]) -> list[str]:
    """Return the clauses with the shared words in each: `"A" or "B" appears` and `it says "A" or "B"`."""
    *others, last = parts
    is_bare = [PLACEHOLDER.fullmatch(part) is not None for part in parts]
    if all(is_bare[:-1]) and (shared := PLACEHOLDER.match(last)) is not None:
        return [f"{part}{last[shared.end() :]}" for part in others] + [last]
    if all(is_bare[1:]) and len(PLACEHOLDER.findall(parts[0])) == 1 and parts[0].endswith(">"):
        return [parts[0], *(PLACEHOLDER.sub(part, parts[0]) for part in parts[1:])]
    return parts if not any(is_bare) else [""]


def _read_sequence(phrase: Phrase) -> Until | None:
    """Return the meaning of `first …, then …`; a later clause may call the first one's subject `it`."""
    first, *later = _LATER.split(phrase.text.removeprefix("first ").removeprefix("First "))
    stages = _read_all(phrase, [first, *(_replace_pronoun(phrase, first, part) for part in later)]) if later else ()
    return Then(stages) if stages else None


def _replace_pronoun(phrase: Phrase, first: str, part: str) -> str:
    """Return a clause with the subject of `first` in the place of `it`."""
    if (pronoun := _IT.match(part)) is None:
        return part
    words, rest = first.split(), part[pronoun.end() :].removesuffix(" again")
    tries = (" ".join([*words[:end], rest]) for end in range(len(words) - 1, 0, -1))
    return next((one for one in tries if read_clause(phrase.with_text(one)) is not None), part)
