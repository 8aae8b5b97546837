"""How like a text that was read is to the wanted one: letters that engines confuse, and words misread in a letter."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from acud.evaluator.ocr.match import alike, caseless

_TRIM = " .,:;…*»›>▸▾▼_-–|&()[]"
_LETTERS_PER_SLIP = 6
"""A word may be misread in one letter for each so many: "Preterences" is Preferences, "Undo" is never Redo."""

EXACT, DISGUISED, SLIPPED = 1.0, 0.96, 0.9
SURE = SLIPPED


def trim(text: str) -> str:
    """Return `text` folded and without the marks that end labels ("Name:", "Save as…")."""
    return caseless(text).strip(_TRIM)


def likeness(wanted: str, shown: str) -> float:
    """Return 1 for the same words, a little less for letters that engines confuse, else their ratio."""
    a, b = trim(wanted), trim(shown)
    if not a or not b:
        return 1.0 if a == b and caseless(wanted) == caseless(shown) else 0.0
    if a == b:
        return EXACT
    if len(a) > 2 and alike(a) == alike(b) and _count_numbers(a) == _count_numbers(b):
        return DISGUISED
    if _is_misread(a.split(), b.split()):
        return SLIPPED
    return min(SequenceMatcher(None, a, b, autojunk=False).ratio(), SLIPPED - 0.01)


def _count_numbers(text: str) -> int:
    """Return the number of words that are digits only: numbers are never taken for words."""
    return sum(word.isdigit() for word in text.split())


def _is_misread(wanted: Sequence[str], shown: Sequence[str]) -> bool:
    if len(wanted) != len(shown):
        return alike("".join(wanted)) == alike("".join(shown)) and len("".join(wanted)) > _LETTERS_PER_SLIP
    return all(_count_slips(a, b) <= len(a) // _LETTERS_PER_SLIP for a, b in zip(wanted, shown, strict=True))


def _count_slips(a: str, b: str) -> int:
    """Return the edit distance of two words (Levenshtein); a digit that differs counts for a whole word."""
    if a == b:
        return 0
    if [c for c in a if c.isdigit()] != [c for c in b if c.isdigit()]:
        return len(a)
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]
