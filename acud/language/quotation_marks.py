"""The quotation marks and dashes that people write: one table for every reader of their sentences."""

from __future__ import annotations

import re

CLOSING = {
    '"': '"', "'": "'", "`": "`´", "“": "”", "”": "”", "‘": "’", "„": "“”", "‚": "‘’", "«": "»", "»": "«»", "‹": "›",
    "›": "‹›", "「": "」", "『": "』", "＂": "＂", "〝": "〞〟",
}  # fmt: skip
"""Each opening mark with those that may close it."""
DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
"""Hyphens, dashes and the minus; programs write one for another."""
_PLAIN = str.maketrans(
    dict.fromkeys("‘’‚‛´`", "'") | dict.fromkeys("“”„‟", '"') | dict.fromkeys(DASHES, "-") | {"\u00ad": ""}
)
OPENING = "[" + "".join(CLOSING) + "]"
"""One opening mark, for regular expressions."""
MARKS = "".join(dict.fromkeys("".join(one + closing for one, closing in CLOSING.items() if one != "'")))
QUOTED = re.compile(
    "|".join(
        rf"(?<!\w){a}((?:[^{a}{b}]|(?<=\w)[{b}](?=\w))+)[{b}](?!\w)" for a, b in CLOSING.items()
    )
)  # fmt: skip
"""Quoted words, a group for each opening mark. A mark between letters is an apostrophe."""


def quoted_words(match: re.Match[str]) -> str:
    return _without_spacing(match[0][:1], next(words for words in match.groups() if words is not None))


def unquote(words: str) -> str:
    """Return `words` without the quotation marks around the whole."""
    closing = CLOSING.get(words[:1])
    is_quoted = closing is not None and len(words) > 1 and words[-1] in closing
    return _without_spacing(words[0], words[1:-1]) if is_quoted else words


def _without_spacing(opening: str, words: str) -> str:
    """Return `words` without the blanks that French sets inside its marks: « like this »."""
    is_spaced = opening in "«‹" and words[:1].isspace() and words[-1:].isspace()
    return words.strip() if is_spaced else words


def plain_marks(text: str) -> str:
    """Return `text` with one spelling of each quotation mark, apostrophe and dash, and without soft hyphens."""
    return text.translate(_PLAIN)
