"""How alike two texts are as names of things: in normal form, with typing errors, and by words of the same meaning."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from functools import lru_cache
from importlib.resources import files

from acud.language.numbers import NUMBER_WORDS

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
"""The least likeness of two words of four letters and more that count as one: a letter wrong, missing or added."""


@lru_cache(maxsize=8192)
def normal(text: str) -> str:
    """Return `text` in the form for comparison: lower case, one space between words, no mnemonics, dots, shortcuts."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2026", " ").replace("...", " ")
    folded = _POSSESSIVE.sub("", folded)
    plain = _COUNT.sub("", _SHORTCUT.sub("", folded)).replace("_", " ").replace("'", "").replace("\u2019", "")
    for old, new in _SAME.items():
        plain = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, plain)
    return " ".join(word.strip("./") or word for word in _NOT_WORD.sub(" ", plain).split())


@lru_cache(maxsize=65536)
def likeness(wanted: str, name: str) -> float:
    """Return 0 to 1 for two normal texts: 1 the same; above 0.9 but for spaces or a typing error; from 0.6 when one has
    words more than the other.
    """
    if not wanted or not name:
        return 0.0
    if wanted == name:
        return 1.0
    if wanted.replace(" ", "") == name.replace(" ", ""):
        return 0.97
    asked, there = wanted.split(), name.split()
    common = _count_common(asked, there)
    if common == len(asked) == len(there):
        return 0.92
    if common == len(asked):
        return 0.68 + 0.2 * common / len(there)
    if common == len(there):
        return 0.5 + 0.25 * common / len(asked)
    return 0.0


def _count_common(asked: list[str], there: list[str]) -> int:
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
    """Return whether two words are equal or, from four letters on, differ by a plural s or are so alike (ratio >=
    `_TYPO`) that one is probably a typing error. Words with digits are never a typing error.
    """
    if word == other or (min(len(word), len(other)) >= 4 and word.removesuffix("s") == other.removesuffix("s")):
        return True
    if min(len(word), len(other)) < 4 or any(c.isdigit() for c in word + other):
        return False
    return SequenceMatcher(None, word, other).ratio() >= _TYPO


_BRITISH = tuple(
    (re.compile(british), american) for british, american in (
        (r"(?<=\w{2})our(?=s?$|ed$|ing$|ite|ful)", "or"), (r"is(?=e[sdr]?$|ing$|ations?$)", "iz"),
        (r"tre(?=s?$)", "ter"), (r"ogue(?=s?$)", "og"), (r"ence(?=s?$)", "ense"), (r"^grey", "gray"), (r"lled$", "led"),
        (r"lling$", "ling"),
    )
)  # fmt: skip
_NOT_PLURAL = ("ss", "us", "is", "news")
_LEAST_STEM = 3


@lru_cache(maxsize=65536)
def is_form(word: str, other: str) -> bool:
    """Return whether two words are forms of one: plural, -ing, -ed, -s, British and American spelling, three and 3."""
    return bool(_find_stems(word) & _find_stems(other))


@lru_cache(maxsize=65536)
def _find_stems(word: str) -> frozenset[str]:
    word = str(NUMBER_WORDS.get(word, word))
    spelled = word
    for pattern, american in _BRITISH if len(word) > _LEAST_STEM else ():
        spelled = pattern.sub(american, spelled)
    found = {word, spelled}
    for ending in ("ies", "es", "s", "ing", "ed"):
        stem = spelled.removesuffix(ending)
        if stem == spelled or len(stem) < _LEAST_STEM or not set(stem) & set("aeiouy") or spelled.endswith(_NOT_PLURAL):
            continue
        if ending == "ies":
            found.add(stem + "y")
            continue
        found.add(stem)
        if ending in ("ing", "ed"):
            found.add(stem + "e")
            if stem[-1] == stem[-2]:
                found.add(stem[:-1])
    return frozenset(found)


@lru_cache(maxsize=1)
def _by_synonym() -> dict[str, frozenset[str]]:
    text = files("acud.features.grounding").joinpath("word_synonyms.txt").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for group in text.splitlines():
        words = {normal(word) for word in group.partition("#")[0].split()}
        for word in words:
            found.setdefault(word, set()).update(words - {word})
    return {word: frozenset(others) for word, others in found.items()}


def synonyms(word: str) -> frozenset[str]:
    """Return the words with about the same meaning as `word` in the name of a control, from `word_synonyms.txt`."""
    return _by_synonym().get(word, frozenset())


@lru_cache(maxsize=65536)
def is_synonym(word: str, other: str) -> bool:
    """Return whether `word`, in any form, means about the same as `other` in the name of a control."""
    return any(is_form(twin, other) for one in _find_stems(word) for twin in synonyms(one))
