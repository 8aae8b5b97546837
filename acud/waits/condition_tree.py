"""What a condition asks, leaf by leaf, and the verdict on the whole from the leaves' answers.

The leaves of a condition have a fixed order: depth first, left to right. Logic is three-valued (Kleene): `unknown`
never becomes `yes` by negation, and decides nothing that the other parts do not decide by themselves.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from acud.types import (
    MOST_BOXES,
    AllOf,
    Answer,
    AnyOf,
    Change,
    Criteria,
    HostLeaf,
    Leaf,
    LocalLeaf,
    NotOf,
    Rect,
    ScreenNumber,
    Target,
    TextLeaf,
    Then,
    Until,
    Verdict,
    no,
    unknown,
    yes,
)

NOT_LOCATED = unknown("not_judged", "the target has not been looked at yet")
NOT_JUDGED = unknown("not_judged", "not judged yet")
_OPPOSITE: dict[Answer | None, Answer | None] = {
    Answer.YES: Answer.NO,
    Answer.NO: Answer.YES,
    Answer.UNKNOWN: Answer.UNKNOWN,
    None: None,
}


def leaves(until: Until) -> tuple[Leaf, ...]:
    """Return the leaves in their fixed order; a leaf's place here is its index everywhere."""
    if isinstance(until, AllOf | AnyOf | Then):
        return tuple(leaf for part in until.parts for leaf in leaves(part))
    return leaves(until.part) if isinstance(until, NotOf) else (until,)


def is_deeper_than(until: Until, levels: int) -> bool:
    """Return whether the condition is nested deeper than `levels` (a leaf is one); looks no deeper than that."""
    if levels == 0:
        return True
    if isinstance(until, AllOf | AnyOf | Then):
        return any(is_deeper_than(part, levels - 1) for part in until.parts)
    return isinstance(until, NotOf) and is_deeper_than(until.part, levels - 1)


def is_local(leaf: Leaf) -> bool:
    """Return whether the leaf is answered without judging a frame."""
    return isinstance(leaf, LocalLeaf)


def names_host(until: Until) -> bool:
    """Return whether a part asks about the daemon's machine: files, processes, notifications."""
    return any(isinstance(leaf, HostLeaf) for leaf in leaves(until))


def needs_display(until: Until, target: Target) -> bool:
    """Return whether a part needs a display; the text of a terminal session is there without one."""
    in_terminal = bool(target.pty)
    return not all(leaf.is_of_machine or (in_terminal and isinstance(leaf, TextLeaf)) for leaf in leaves(until))


def map_leaves(until: Until, change: Callable[[Leaf], Until]) -> Until:
    if isinstance(until, AllOf | AnyOf | Then):
        return replace(until, parts=tuple(map_leaves(part, change) for part in until.parts))
    return NotOf(map_leaves(until.part, change)) if isinstance(until, NotOf) else change(until)


def find_sentences(every_leaf: Sequence[Leaf]) -> frozenset[int]:
    """Return the indexes of the leaves that only a vision judge can answer."""
    return frozenset(index for index, leaf in enumerate(every_leaf) if isinstance(leaf, Criteria))


def may_ask_model(leaf: Leaf) -> bool:
    """Return whether a model may be asked about the leaf: a sentence, or a number read from one."""
    return isinstance(leaf, Criteria) or (isinstance(leaf, ScreenNumber) and bool(leaf.sentence))


def is_from_now(until: Until) -> bool:
    """Return whether a part of the first stage is a change from the moment of the call."""
    first = until.parts[0] if isinstance(until, Then) else until
    return any(isinstance(leaf, Change) and not leaf.baseline for leaf in leaves(first))


def evaluate(until: Until, verdicts: Mapping[int, Verdict]) -> Verdict:
    """Return the verdict on the whole condition on one frame; a leaf without a verdict is `unknown(not_judged)`. A
    `then` is judged stage by stage (`acud.waits.stages`), never as a whole.
    """
    return _evaluate_part(until, iter(range(len(leaves(until)))), verdicts)


def _evaluate_part(until: Until, indexes: Iterator[int], verdicts: Mapping[int, Verdict]) -> Verdict:
    if isinstance(until, AllOf):
        # `no` when a part is no, else `unknown` when one is unknown, else `yes`.
        parts = [_evaluate_part(part, indexes, verdicts) for part in until.parts]
        return _merge_first(parts, Answer.NO, Answer.UNKNOWN) or yes(_join_details(parts, " and "), _merge_boxes(parts))
    if isinstance(until, AnyOf):
        # `yes` when a part is yes, else `unknown` when one is unknown, else `no`.
        parts = [_evaluate_part(part, indexes, verdicts) for part in until.parts]
        return _merge_first(parts, Answer.YES, Answer.UNKNOWN) or no(_join_details(parts, "; "), _merge_boxes(parts))
    if isinstance(until, NotOf):
        part = _evaluate_part(until.part, indexes, verdicts)
        if part.answer is Answer.UNKNOWN:
            return part
        if part.answer is Answer.NO:
            return yes(part.detail, part.boxes)
        return no(f"still so: {part.detail}", part.boxes)
    if isinstance(until, Then):
        raise TypeError("a sequence has no verdict on one frame")
    return verdicts.get(next(indexes), NOT_JUDGED)


def _merge_first(parts: list[Verdict], *answers: Answer) -> Verdict | None:
    """Return the parts with the first of the `answers` that any part has, as one verdict."""
    for answer in answers:
        if found := [part for part in parts if part.answer is answer]:
            words = _join_details(found, "; " if answer is Answer.NO else " and ")
            return Verdict(answer, words, found[0].code, _merge_boxes(found))
    return None


def _join_details(parts: list[Verdict], word: str) -> str:
    return word.join(dict.fromkeys(part.detail for part in parts if part.detail))


def _merge_boxes(parts: list[Verdict]) -> tuple[Rect, ...]:
    return tuple(dict.fromkeys(box for part in parts for box in part.boxes))[:MOST_BOXES]


def open_leaves(until: Until, known: Mapping[int, Verdict]) -> frozenset[int]:
    """Return the leaves without a verdict that can still decide the whole, given the verdicts there are."""
    return _find_open(until, itertools.count(), known)[1]


def _find_open(
    until: Until, indexes: Iterator[int], known: Mapping[int, Verdict]
) -> tuple[Answer | None, frozenset[int]]:
    """Return the answer if it holds for any result of the open leaves (None: open), and those leaves."""
    if isinstance(until, NotOf):
        answer, rest = _find_open(until.part, indexes, known)
        return _OPPOSITE[answer], rest
    if not isinstance(until, AllOf | AnyOf):
        index = next(indexes)
        return (known[index].answer, frozenset()) if index in known else (None, frozenset({index}))
    parts = [_find_open(part, indexes, known) for part in until.parts]
    decisive = Answer.NO if isinstance(until, AllOf) else Answer.YES
    answers = {answer for answer, _ in parts}
    if decisive in answers:
        return decisive, frozenset()
    if None in answers:
        return None, frozenset().union(*(rest for _, rest in parts))
    return (Answer.UNKNOWN if Answer.UNKNOWN in answers else _OPPOSITE[decisive]), frozenset()
