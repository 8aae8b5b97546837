"""The kind of a value by how it is written: `UTF-8` is an encoding, `MM/YY` an expiry date."""

from __future__ import annotations

import re
from functools import lru_cache

_SORTS = (
    (r"(?:utf|ucs|iso|windows|cp|koi|mac|latin|ascii|big5|gb|shift|euc)(?:[-_ ]?[\w-]{0,10})?",
     r"(?=.*(?:\d|ascii|latin))", "encoding charset character characters"),
    (r"(?:crlf|lf|cr)", "", "ending endings line"),
    (r"(?:spaces|tab size|tabs?)[: ]+\d+", "", "indent indentation"),
    (r"(?:ln|line)\W*\d+.*", "", "cursor position line"),
    (r"[a-z]{1,3}\d{1,5}(?::[a-z]{1,3}\d{1,5})?", "", "cell reference"),
    (r"m{1,2} ?/ ?(?:y{2}|y{4})", "", "expiry expiration expires date valid"),
    (r"(?:d{1,2}|m{1,2}|y{2,4})[./-](?:d{1,2}|m{1,2}|y{2,4})[./-](?:d{1,2}|m{1,2}|y{2,4})", "", "date day"),
    (r"\d{1,4}[./-]\d{1,2}[./-](?:\d{1,4})?", "", "date day"),
    (r"\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?: \d{4})?", "", "date day"),
    (r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}(?:,? \d{4})?", "", "date day"),
    (r"\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?", "", "time hour clock"),
    (r"[\w.+-]+@[\w-]+\.[\w.]+", "", "email mail"),
    (r"(?:https?://|www\.)\S+", "", "url link website web"),
    (r"\d{1,3}(?:\.\d{1,3}){3}(?:/\d+)?", "", "ip"),
    (r"\+?[\d ()/-]{7,20}", r"(?=(?:\D*\d){6})", "phone telephone"),
    (r"(?:\d{4}[ -]?){4}", "", "card"),
    (r"\d+(?:[.,]\d+)? ?(?:b|kb|mb|gb|tb|kib|mib|gib|bytes)", "", "size"),
    (r"\d+(?:[.,]\d+)? ?%", "", "percentage percent zoom"),
    (r"[€$£¥] ?\d[\d.,]*|\d[\d.,]* ?(?:€|\$|£|eur|usd|chf|gbp)", "", "price cost amount sum"),
    (r"v ?\d+(?:\.\d+)+", "", "version"),
    (r"[-+]?\d[\d.,]*", "", "number value figure amount cost price count"),
)  # fmt: skip
"""The pattern of the whole value, a further condition, and the words for it."""
_COMPILED = tuple((re.compile(f"{also}(?:{pattern})", re.IGNORECASE), frozenset(words.split()))
                  for pattern, also, words in _SORTS)  # fmt: skip
_LONGEST = 60


@lru_cache(maxsize=8192)
def value_words(text: str) -> frozenset[str]:
    """Return the words for the kind of `text` by how it is written; empty for an ordinary text."""
    bare = " ".join(text.split())
    if not bare or len(bare) > _LONGEST:
        return frozenset()
    found = (words for pattern, words in _COMPILED if pattern.fullmatch(bare))
    return frozenset().union(*found)
