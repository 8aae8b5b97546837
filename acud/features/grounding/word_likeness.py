"""How alike two texts are as names of things: as they are compared, but for typing errors, and words of one meaning."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from functools import lru_cache

_SHORTCUT = re.compile(r"[\t ]+\(?(?:(?:ctrl|alt|shift|super|meta)\+)+\S+\)?$|[\t ]+f\d{1,2}$")
_POSSESSIVE = re.compile(r"(?<=\w)['\u2019]s\b")
_COUNT = re.compile(r" \(\d+\)$")
_NOT_WORD = re.compile(r"[^\w+#%$€&@/.]+")
_SAME = {
    "e-mail": "email", "okay": "ok", "&": "and", "colour": "color", "centre": "center", "mails": "mail",
    "dont": "do not", "doesnt": "does not", "cant": "can not", "cannot": "can not", "isnt": "is not",
    "wont": "will not", "log in": "login", "sign in": "signin", "log out": "logout", "sign out": "signout",
    "log on": "login", "e-book": "ebook", "e-books": "ebooks",
}  # fmt: skip
_TYPO = 0.84
"""The least likeness of two words of four letters and more that are taken for one: a letter wrong, missing or more."""


@lru_cache(maxsize=8192)
def normal(text: str) -> str:
    """Return `text` as it is compared: lower case, one space between words, without mnemonics, dots, shortcuts."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2026", " ").replace("...", " ")
    folded = _POSSESSIVE.sub("", folded)
    plain = _COUNT.sub("", _SHORTCUT.sub("", folded)).replace("_", " ").replace("'", "").replace("\u2019", "")
    for old, new in _SAME.items():
        plain = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, plain)
    return " ".join(word.strip("./") or word for word in _NOT_WORD.sub(" ", plain).split())


@lru_cache(maxsize=65536)
def likeness(wanted: str, name: str) -> float:
    """Return 0 to 1 for two normal texts: 1 the same; above 0.9 but for spaces or a typing error; from 0.6 when one
    has words more than the other.
    """
    if not wanted or not name:
        return 0.0
    if wanted == name:
        return 1.0
    if wanted.replace(" ", "") == name.replace(" ", ""):
        return 0.97
    asked, there = wanted.split(), name.split()
    common = _common(asked, there)
    if common == len(asked) == len(there):
        return 0.92
    if common == len(asked):
        return 0.68 + 0.2 * common / len(there)
    if common == len(there):
        return 0.5 + 0.25 * common / len(asked)
    return 0.0


def _common(asked: list[str], there: list[str]) -> int:
    """Return how many words both have, in the order of `asked`, one that is alike counting as the same."""
    left = list(there)
    count = 0
    for word in asked:
        twin = next((other for other in left if is_same_word(word, other)), None)
        if twin is not None:
            left.remove(twin)
            count += 1
    return count


@lru_cache(maxsize=65536)
def is_same_word(word: str, other: str) -> bool:
    """Tell whether two words are one, but for a letter."""
    if word == other or (min(len(word), len(other)) >= 4 and word.removesuffix("s") == other.removesuffix("s")):
        return True
    if min(len(word), len(other)) < 4 or any(c.isdigit() for c in word + other):
        return False
    return SequenceMatcher(None, word, other).ratio() >= _TYPO


_SYNONYMS = """
phone telephone tel mobile; town city; zip postcode postal; surname family last; forename given; login signin;
logout signout; finish complete done end; cancel abort; quit exit leave; start begin launch; search find;
preferences settings options; delete remove erase; create add new; picture image photo; sum total; price cost amount;
mail email message; folder directory; repeat loop; large big; quick fast; favourite favorite favourites favorites;
grey gray; dialog dialogue; organisation organization company; pay payment paying; expiry expires expiration;
keep retain; stop halt; recent latest; comment note remark; notes remarks comments; user account; everything all;
version edition; url address; kind type; previous back; next forward; overview summary; help support;
refresh reload update; store save; choose select pick; country nation; nothing none
"""
"""Groups of words of which programs have one and people say another."""


@lru_cache(maxsize=1)
def _by_synonym() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in _SYNONYMS.split(";"):
        words = {normal(word) for word in group.split()}
        for word in words:
            found.setdefault(word, set()).update(words - {word})
    return {word: frozenset(others) for word, others in found.items()}


def synonyms(word: str) -> frozenset[str]:
    """Return the words that mean about what `word` does where they name a control."""
    return _by_synonym().get(word, frozenset())
