"""Which sentences surely mean a local condition, so that no model is needed to judge them.

The grammar is narrow on purpose: it reads whole sentences. It never skips what it does not know (a place, a colour, an
order, a doubt, a second clause that is no condition): such a sentence is left to a vision judge.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from acud.types import ConditionWords, Criteria, JudgeName, Leaf, ScreenNumber, Then, Until, condition_text
from acud.waits.condition_tree import leaves, map_leaves
from acud.waits.sentence_joints import read_sentence

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
