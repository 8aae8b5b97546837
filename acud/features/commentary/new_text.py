"""What of a display's text is new since it was last told of: a counter or a misread letter is no news. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from difflib import SequenceMatcher

LIKE = 0.7
"""From this ratio on two texts say the same."""
REMEMBERED = 5
"""New text that is like one of the last so many is no news: a menu that opens and closes, a list scrolled back."""
MAX_TOLD = 2000
"""Characters; an analysis is told 120 of them."""
VISUAL_SSIM = 0.85
"""Below this likeness of two frames a change without new text is worth telling."""
_COMPARED = 200


def alike(one: str, other: str) -> bool:
    """Tell whether two short texts say much the same."""
    if one == other:
        return True
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.real_quick_ratio() >= LIKE and matcher.quick_ratio() >= LIKE and matcher.ratio() >= LIKE


class NewText:
    """One display's text. What was not told, because it came too soon, is still new the next time."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._told: deque[str] = deque(maxlen=REMEMBERED)

    def fresh(self, lines: Sequence[tuple[str, str]]) -> str:
        """Take in the (id, text) lines that are there now, in reading order; return the new ones, each whole.

        "" when there are none, or when together they say what was told lately.
        """
        new = [text.strip() for id_, text in lines if not self._is_known(id_, text)]
        self._known = dict(lines)
        told = "\n".join(text for text in new if text)[:MAX_TOLD]
        if not told or any(alike(told[:_COMPARED], before[:_COMPARED]) for before in self._told):
            return ""
        self._told.append(told)
        return told

    def _is_known(self, id_: str, text: str) -> bool:
        before = self._known.get(id_)
        return before is not None and alike(before[:_COMPARED], text.strip()[:_COMPARED])
