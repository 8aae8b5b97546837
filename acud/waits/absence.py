"""Hold a yes that rests on an absence over a moment, so that what only flickers does not count as gone."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from acud.types import Answer, Criteria, Leaf, PlacedLeaf, Verdict, unknown
from acud.waits.condition_tree import evaluate
from acud.waits.model import PendingYes, Wait

MOST_HELD = 3
"""This many yeses in a row over the hold time count, where the target never stands still for that long."""
_BE = r"(?:is|are|was|were|be|been|being|gets|got)(?: \w+)?"
_VIEW = r"(?:(?:the|my|this|that) )?(?:screen|display|page|view|sight)"
_ABSENT = re.compile(
    r"\b(?:no|not|cannot|none|nothing|nobody|nowhere|neither|nor|never|without|gone|"
    r"(?:go|goes|went)(?= (?:away|out|off)\b|[.,;!?]|$)|"
    rf"disappear\w*|vanish\w*|fade[sd]?|hidden|hides|invisible|{_BE} (?:cleared|deleted|dismissed|removed|wiped)|"
    rf"closes|closed|shut|(?:to|will|should|must) close|(?:leaves?|left) {_VIEW}|(?:has|have|had) left|"
    rf"(?:off|from|out of) {_VIEW}|stop(?:s|ped)? (?:being|displaying|reading|saying|showing))\b|n['’]t\b",
    re.IGNORECASE,
)
"""In doubt it matches: a sentence wrongly taken for absence is held a moment, a missed one lets flickers count."""
_OPEN = unknown("not_judged", "")


def add_pending_yes(wait: Wait, pending: PendingYes, seen_at: float) -> Wait:
    """Return the wait with a new yes about what was seen at `seen_at`; hold a yes first that rests on an absence."""
    judge_state = wait.judge_state
    hold_s = wait.spec.policy.hold_s if wait.spec.timeout_s and _rests_on_absence(wait, pending.verdicts) else 0.0
    since = seen_at if judge_state.absent_since is None else judge_state.absent_since
    count = judge_state.absences + 1
    is_hold_over = not hold_s or (count >= MOST_HELD and seen_at >= since + hold_s)
    after = replace(judge_state, absent_since=since, absences=count) if hold_s else judge_state
    held = pending if is_hold_over else replace(pending, hold_until=seen_at + hold_s)
    return replace(wait, pending=held, judge_state=after)


def _rests_on_absence(wait: Wait, verdicts: Mapping[int, Verdict]) -> bool:
    """Return whether the condition would no longer hold if the absences were not known."""
    known = {index: _OPEN if _is_absence(wait.leaves[index], one) else one for index, one in verdicts.items()}
    return evaluate(wait.until, known).answer is not Answer.YES


def _is_absence(leaf: Leaf, verdict: Verdict) -> bool:
    if isinstance(leaf, PlacedLeaf):
        return verdict.answer is (Answer.YES if leaf.gone else Answer.NO)
    return asks_absence(leaf)


def asks_absence(leaf: Leaf) -> bool:
    """Return whether the sentence of the leaf asks that a thing is gone or absent."""
    return isinstance(leaf, Criteria) and _ABSENT.search(leaf.criteria) is not None
