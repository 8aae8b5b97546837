"""Window titles against a condition."""

from __future__ import annotations

from acud.patterns import compiled
from acud.types import Verdict, WindowInfo, WindowTitle, no, yes

TITLE_CHARS = 300
"""As much of a title as a pattern is tried on: the supervisor runs it, and titles are written by strangers."""


def matches(leaf: WindowTitle, title: str) -> bool:
    """Tell whether a title is meant: it contains the words (case ignored), or the pattern is found in it."""
    if leaf.regex:
        return compiled(leaf.title).search(title[:TITLE_CHARS]) is not None
    return leaf.title.casefold() in title.casefold()


def judge_titles(leaf: WindowTitle, windows: tuple[WindowInfo, ...]) -> Verdict:
    """Return the verdict over the windows there are; minimised ones count, they still exist."""
    found = next((w for w in windows if w.kind != "popup" and matches(leaf, w.title)), None)
    if found is not None:
        words = f'the window "{found.title}" is there'
        return no(words) if leaf.gone else yes(words)
    words = f'no window titled "{leaf.title}" is there'
    return yes(words) if leaf.gone else no(words)
