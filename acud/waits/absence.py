"""What is to be gone and was never there: a yes says so, for it may have been armed too early, or on other words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from acud.types import AllOf, Answer, AnyOf, Criteria, Leaf, NotOf, Text, Until, Verdict, WindowTitle
from acud.waits.plain import plain
from acud.waits.wait import Wait

NEVER_THERE = "it was not there when the wait began to look"


def seen_there(wait: Wait, verdicts: Mapping[int, Verdict]) -> frozenset[int]:
    """Return the leaves whose text or window was there once, those of `verdicts` included."""
    there = {index for index, verdict in verdicts.items() if _is_there(wait.leaves[index], verdict) is True}
    return wait.there | there


def with_absence(wait: Wait, index: int, verdict: Verdict) -> Verdict:
    """Return the verdict of a leaf, saying of what is gone that it was not there in the first place."""
    if not wait.is_new or index in wait.there or _is_there(wait.leaves[index], verdict) is not False:
        return verdict
    awaited = index in set(_absences(wait.spec.until, iter(range(len(wait.leaves))), negated=False))
    return replace(verdict, detail=f"{verdict.detail}; {NEVER_THERE}") if awaited else verdict


def _is_there(leaf: Leaf, verdict: Verdict) -> bool | None:
    """Tell whether the leaf's text or window is there; None: it is no such leaf, or nobody knows."""
    named = plain(leaf.criteria).leaf if isinstance(leaf, Criteria) else leaf
    if not isinstance(named, Text | WindowTitle) or verdict.answer is Answer.UNKNOWN:
        return None
    return (verdict.answer is Answer.YES) is not named.gone


def _absences(until: Until, indexes: Iterator[int], *, negated: bool) -> Iterator[int]:
    """Yield the leaves that hold while something is not there, the negated ones turned round."""
    if isinstance(until, AllOf | AnyOf):
        for part in until.parts:
            yield from _absences(part, indexes, negated=negated)
    elif isinstance(until, NotOf):
        yield from _absences(until.part, indexes, negated=not negated)
    else:
        index = next(indexes)
        named = plain(until.criteria).leaf if isinstance(until, Criteria) else until
        if isinstance(named, Text | WindowTitle) and named.gone is not negated:
            yield index
