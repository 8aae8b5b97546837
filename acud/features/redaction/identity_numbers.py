"""Numbers that name a person or an account: bank accounts (IBAN) and national ids.

The checks are those of python-stdnum. Without a label a number counts only where its form and checksum together are
rare among other numbers: an IBAN (mod 97, a length of its country), a Chinese or Italian id (a date of birth in it), a
Brazilian, French, Spanish, Swiss, Finnish, US or British id as it is printed. Ids that are plain digits with one check
digit (German, Polish, Dutch, Indian, Canadian) need a label: see `labels`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from acud.features.redaction.rule_data import rule_data
from acud.features.redaction.spans import RedactedSpan, Rule, number_check

_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}[0-9OIlSB]{2}(?:[ .-]{0,2}[A-Z0-9Ol]{2,4}){2,8}(?:[ .-]{0,2}[A-Z0-9]{1,4})?"
    r"(?![A-Za-z0-9])"
)
_GAPS = str.maketrans("", "", " .-")
_READ_AS = str.maketrans("OIlSB", "01158")

_CANDIDATE = re.compile(r"(?<![A-Za-z0-9])(?![0-9]{4}-[0-9]{2}-[0-9]{2}[T ])[A-Z]{0,6}+[0-9][A-Z0-9x .+/-]{7,40}+")
"""Where an id may be."""
_SHAPE = str.maketrans("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZx", "9" * 10 + "A" * 27)


@cache
def _list_ids() -> tuple[tuple[str, str], ...]:
    listed = rule_data("rules")["ids"]
    return tuple((shape, module) for module, shapes in listed.items() for shape in shapes)


def find_ibans(text: str, *, read: bool = False) -> Iterator[RedactedSpan]:
    """Yield bank accounts with a right checksum; `read`: read off a screen, where letters stand for digits."""
    for match in _IBAN.finditer(text):
        end = _iban_end(match[0], read=read)
        if end:
            yield RedactedSpan(match.start(), match.start() + end, Rule.IBAN)


def _iban_end(written: str, *, read: bool) -> int:
    """Return how much of `written` is an account; 0 for none. A word in capitals may follow one."""
    is_valid = number_check("stdnum.iban")
    end = len(written)
    while end > 14:
        packed = written[:end].translate(_GAPS)
        if is_valid(packed):
            return end
        if read and (is_valid(packed.translate(_READ_AS)) or is_valid(packed[:2] + packed[2:].translate(_READ_AS))):
            return end
        cut = max(written.rfind(" ", 0, end), written.rfind("-", 0, end))
        if cut < 0:
            break
        end = cut
    # On a screen one character may be wrong, and four groups of four after a country are an account all the same.
    groups = written.split(" ")
    printed = read and written[:2] in _IBAN_COUNTRIES and len(groups) > 3 and {*map(len, groups[:4])} == {4}
    return len(written) if printed else 0


_COUNTRIES = """
AD AE AL AT AZ BA BE BG BH BR CH CR CY CZ DE DK EE ES FI FR GB GE GI GR HR HU IE IL IS IT KW KZ LB LI LT LU LV MC MD ME
MK MT NL NO PL PT QA RO RS SA SE SI SK SM TN TR UA
"""
_IBAN_COUNTRIES = frozenset(_COUNTRIES.split())


def find_ids(text: str) -> Iterator[RedactedSpan]:
    """Yield national ids that their form alone identifies: `9` stands for a digit in a shape, `A` for a capital."""
    for place in _CANDIDATE.finditer(text):
        written = place[0].translate(_SHAPE)
        for shape, module in _list_ids():
            at = written.find(shape)
            while at >= 0:
                start, end = place.start() + at, place.start() + at + len(shape)
                edges = text[start - 1 : start] + text[end : end + 1]
                alone = not any(c.isalnum() or c == "-" for c in edges) and text[start - 1 : start] != "."
                if alone and number_check(module)(text[start:end]):
                    yield RedactedSpan(start, end, Rule.ID)
                at = written.find(shape, at + 1)
