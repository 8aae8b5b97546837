"""How long Python's engine may search for a pattern: the ways in which it can share out a line among its parts.

The engine tries them all before it says that there is no match. `a*a*a*a*b` takes 19 s on 300 letters a, `a*a*b` a
twentieth of a second (measured). So parts multiply, alternatives add up, and a part costs nothing when what follows
it can never be part of it: digits before a dot end in one place.
"""

from __future__ import annotations

import re
from functools import lru_cache

LENGTH = 300
"""What a pattern is searched in at once: `titles.TITLE_CHARS`, `panes.LINE_CHARS`."""
MOST_WAYS = LENGTH**3 * 16
"""Two parts of any length, at any place, and some alternatives: under a second at the very worst."""

PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[#:=!<>P][=!]?|[()|]|[*+]|\{\d*,?\d*\}|.", re.DOTALL)
"""A pattern's smallest parts: an escape, a class, a group's begin, a repeat, a letter."""
_REPEAT = re.compile(r"[*+?]|\{(\d*)(,?)(\d*)\}")
_ONE_CHARACTER = re.compile(r"\\[dDsSwWnrtfv]|\\[^0-9A-Za-z]|\[.+\]|[^\\^$()|*+?{}.]", re.DOTALL)
_VERBOSE = re.compile(r"\(\?[a-zA-Z]*x")
_SAMPLE = "".join(map(chr, (*range(0x2500), *range(0x4E00, 0x4E40), *range(0xAC00, 0xAC20), 0x1D7D8, 0x1F600, 0x20000)))


def ways(pattern: str) -> int:
    """Return an upper bound of the ways to try `pattern`, which compiles, on `LENGTH` characters."""
    return _Reading(pattern).ways()


class _Reading:
    """The pieces of a pattern from the first to the last; `_at` is the next."""

    def __init__(self, pattern: str) -> None:
        self._pieces: list[str] = PIECE.findall(pattern)
        self._at = 0
        # Blanks are no letters there, so nothing that looks like one is what a part ends before.
        self._has_ends = _VERBOSE.search(pattern) is None

    def ways(self) -> int:
        starts = 1 if self._pieces[:1] in (["^"], ["\\A"]) and "|" not in self._pieces else LENGTH
        found = self._alternatives()
        while self._at < len(self._pieces):  # a closing bracket too many cannot compile; nothing is left out
            self._at += 1
            found *= self._alternatives()
        return starts * found

    def _alternatives(self) -> int:
        total = self._sequence()
        while self._next() == "|":
            self._at += 1
            total += self._sequence()
        return total

    def _sequence(self) -> int:
        product = 1
        while self._next() not in ("", "|", ")"):
            product = min(product * self._part(), MOST_WAYS + 1)
        return product

    def _part(self) -> int:
        piece = self._pieces[self._at]
        self._at += 1
        inside = 1
        if piece.startswith("("):
            inside = self._alternatives()
            self._at += self._next() == ")"
        return inside * self._repeated(piece)

    def _repeated(self, piece: str) -> int:
        """Return how many lengths the repeat behind `piece` allows, 1 where the next piece decides."""
        found = _REPEAT.fullmatch(self._next())
        if found is None:
            return 1
        self._at += 1
        is_possessive = self._next() == "+"
        self._at += self._next() in ("+", "?")
        if is_possessive or self._next() == "" or self._ends(piece):
            return 1
        return _lengths(found)

    def _ends(self, piece: str) -> bool:
        """Tell whether a character must follow that cannot be one of `piece`."""
        at = self._at
        while self._pieces[at : at + 1] == [")"]:  # a group that is repeated is followed by a repeat, no character
            at += 1
        after, behind = (*self._pieces[at : at + 2], "", "")[:2]
        may_be_absent = _REPEAT.fullmatch(behind) is not None and behind != "+"
        return self._has_ends and not may_be_absent and _is_one(piece) and _is_one(after) and _differ(piece, after)

    def _next(self) -> str:
        return self._pieces[self._at] if self._at < len(self._pieces) else ""


def _lengths(repeat: re.Match[str]) -> int:
    if repeat[0] in ("*", "+"):
        return LENGTH
    if repeat[0] == "?":
        return 2
    least, comma, most = repeat.groups()
    if not comma:
        return 1
    return min(LENGTH, int(most[:9]) - int(least[:9] or 0) + 1 if most else LENGTH)


def _is_one(piece: str) -> bool:
    return _ONE_CHARACTER.fullmatch(piece) is not None


@lru_cache(256)
def _differ(one: str, other: str) -> bool:
    return not _characters(one) & _characters(other)


@lru_cache(64)
def _characters(piece: str) -> frozenset[str]:
    return frozenset(re.findall(piece, _SAMPLE, re.IGNORECASE))
