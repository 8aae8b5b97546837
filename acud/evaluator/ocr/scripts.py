"""Scripts that the first reader's dictionary lacks, their languages in tesseract, and Debian's packages for these.

Greek is one of them: the dictionary has its letters, but none with an accent.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

PROGRAM_PACKAGE = "tesseract-ocr"
UNKNOWN = "unknown"
"""The script of text that nothing here can name: tesseract, which can, is not installed."""
_MOST_LANGUAGES = 2
"""Of one script in one reading: each more costs 50 ms to load, and takes Latin capitals for its own more often."""


class WritingScript(NamedTuple):
    """`name`: as tesseract's own script detection calls it. `letters`: how the Unicode names of its letters begin.

    `languages`: tesseract's, the most widely used first.
    """

    name: str
    letters: str
    languages: tuple[str, ...]

    def readable_languages(self, languages: Iterable[str]) -> tuple[str, ...]:
        """Return which of its languages are among `languages`, at most two."""
        there = set(languages)
        return tuple(one for one in self.languages if one in there)[:_MOST_LANGUAGES]


SCRIPTS = tuple(
    WritingScript(name, letters or name.upper(), tuple(languages.split()))
    for name, letters, languages in (
        ("Cyrillic", "", "rus ukr bul srp bel mkd kaz mon kir tgk"),
        ("Greek", "", "ell"),
        ("Hangul", "", "kor"),
        ("Arabic", "", "ara fas urd"),
        ("Hebrew", "", "heb yid"),
        ("Thai", "", "tha"),
        ("Devanagari", "", "hin mar nep"),
        ("Armenian", "", "hye"),
        ("Georgian", "", "kat"),
        ("Bengali", "", "ben"),
        ("Tamil", "", "tam"),
        ("Telugu", "", "tel"),
        ("Kannada", "", "kan"),
        ("Malayalam", "", "mal"),
        ("Gujarati", "", "guj"),
        ("Gurmukhi", "", "pan"),
        ("Sinhala", "", "sin"),
        ("Khmer", "", "khm"),
        ("Lao", "", "lao"),
        ("Myanmar", "", "mya"),
        ("Ethiopic", "", "amh"),
        ("Tibetan", "", "bod"),
    )
)
_DRAWN_AS_LATIN = frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧνορАВЕЅІЈКМНОРСТУХаеѕіјорсух")
"""Greek and Cyrillic letters that look as Latin ones do (Unicode's confusables)."""
_OF_RAPIDOCR = ("CJK UNIFIED IDEOGRAPH", "HIRAGANA", "KATAKANA")
_BY_NAME = {script.name: script for script in SCRIPTS}
_OTHER_NAMES = {"Korean": "Hangul", "Hangul_vert": "Hangul"}


def script_of(name: str) -> WritingScript | None:
    """Return the script with this name of tesseract's; None for one that the first reader reads itself."""
    return _BY_NAME.get(_OTHER_NAMES.get(name, name))


def packages(script: WritingScript, languages: Iterable[str]) -> tuple[str, ...]:
    """Return Debian's packages that make `script` readable where these languages are installed."""
    program = () if any(languages) else (PROGRAM_PACKAGE,)
    return (*program, f"{PROGRAM_PACKAGE}-{script.languages[0].replace('_', '-')}")


def lacking(text: str) -> WritingScript | None:
    """Return the script of `text` that the first reader's dictionary lacks, if it has words of one."""
    return next(
        (script for script in SCRIPTS if sum(_begins(one).startswith(script.letters) for one in text) > 1), None
    )


def needs_rapidocr(text: str) -> bool:
    """Return whether `text` has Chinese or Japanese letters, which no other first reader reads."""
    return any(_begins(letter).startswith(_OF_RAPIDOCR) for letter in text)


def share(text: str, script: WritingScript) -> float:
    """Return which part of the letters in `text` are of `script`; 0 where there is none."""
    letters = [letter for letter in text if letter.isalpha()]
    return sum(_begins(letter).startswith(script.letters) for letter in letters) / max(1, len(letters))


def shows(text: str, script: WritingScript) -> bool:
    """Return whether `text` has a letter of `script` that is not drawn as a Latin one is."""
    return any(_begins(letter).startswith(script.letters) for letter in set(text) - _DRAWN_AS_LATIN)


@lru_cache(4096)
def _begins(letter: str) -> str:
    return unicodedata.name(letter, "")
