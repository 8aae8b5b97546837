"""The text of a terminal against a `text` leaf: exact, where a picture would have to be read."""

from __future__ import annotations

import unicodedata

from acud.patterns import compiled
from acud.types import Text, Verdict, no, yes

_MAX_QUOTE = 200


def judge_pane(leaf: Text, pane: str) -> Verdict:
    """Return the verdict on `leaf` over what a terminal shows now.

    Plain text is found across line breaks, white space folded; a pattern is tried line by line.
    """
    found = _line_matching(leaf, pane) if leaf.regex else _line_with(leaf, pane)
    lines = len(pane.splitlines())
    if found is None:
        words = f'"{leaf.text}" is in none of the {lines} lines of the terminal'
        return yes(words) if leaf.gone else no(words)
    quoted = f'the terminal {"still " if leaf.gone else ""}reads "{found[:_MAX_QUOTE]}"'
    return no(quoted) if leaf.gone else yes(quoted)


def _line_matching(leaf: Text, pane: str) -> str | None:
    pattern = compiled(leaf.text, ignore_case=not leaf.match_case)
    lines = (_folded(line) for line in pane.splitlines())
    return next((line for line in lines if pattern.search(line) is not None), None)


def _line_with(leaf: Text, pane: str) -> str | None:
    def comparable(text: str) -> str:
        return _folded(text) if leaf.match_case else _folded(text).casefold()

    wanted = comparable(leaf.text)
    if wanted not in comparable(pane):
        return None
    line = next((line for line in pane.splitlines() if wanted in comparable(line)), None)
    return _folded(line) if line is not None else _folded(leaf.text)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())
