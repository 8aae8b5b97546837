"""Words of others in a prompt: between marks that they cannot end, so that they stay material, never ours."""

from __future__ import annotations

import re
from functools import cache

_BLANK = "[\\s\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*"
"""White space, and what shows as nothing at all (soft hyphen, zero-width characters)."""


def fenced(mark: str, words: str, *others: str) -> str:
    """Return `words` between `<mark>` and `</mark>`; what looks like this mark or one of `others` in them is harmless.

    `others`: the marks of the same prompt's other fences, which these words must not open or end either.
    """
    return f"<{mark}>\n{harmless(words.strip(), mark, *others)}\n</{mark}>"


def harmless(words: str, *marks: str) -> str:
    """Return `words` with the bracket of everything that looks like one of `marks` replaced by a quotation mark."""
    return _looks_like(marks).sub("‹", words)


@cache
def _looks_like(marks: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(_BLANK.join(map(re.escape, mark)) for mark in marks)
    # Full-width and small brackets too: a model reads them as brackets.
    return re.compile(f"[<＜﹤](?={_BLANK}[/／]?{_BLANK}(?:{names}))", re.IGNORECASE)
