"""What of a text is new: likeness of texts, so that a counter or a misread letter is no news. Pure."""

from __future__ import annotations

from difflib import SequenceMatcher

LIKE = 0.7
"""From this ratio on two texts say the same."""


def alike(one: str, other: str) -> bool:
    """Tell whether two short texts say much the same."""
    if one == other:
        return True
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.real_quick_ratio() >= LIKE and matcher.quick_ratio() >= LIKE and matcher.ratio() >= LIKE
