"""Numbers that name a person or an account: bank accounts (IBAN), national ids, e-mail addresses, phone numbers.

The checks are those of python-stdnum. Without a label a number counts only where its form and checksum together are
rare among other numbers: an IBAN (mod 97, a length of its country), a Chinese or Italian id (a date of birth in it), a
Brazilian, French, Spanish, Swiss, Finnish, US or British id as it is printed. Ids that are plain digits with one check
digit (German, Polish, Dutch, Indian, Canadian) need a label: see `labels`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module

from acud.features.redaction.spans import RedactedSpan, Rule

_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{2,4}){2,8}(?:[ -]?[A-Z0-9]{1,4})?(?![A-Za-z0-9])")
_READ_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}[0-9OIlSB]{2}(?:[ .-]{0,2}[A-Z0-9Ol]{4}){2,7}(?:[ .-]{0,2}[A-Z0-9]{1,4})?(?![A-Za-z0-9])"
)
_READ_AS = str.maketrans("OIlSB", "01158")

_A, _Z = r"(?<![A-Za-z0-9.-])", r"(?![A-Za-z0-9-])"
_NINO = r"(?![DFIQUV]|.[DFIOQUV]|BG|GB|KN|NK|NT|TN|ZZ)[A-Z]{2}"
_NIR = r"[12][ ]?[0-9]{2}[ ]?(?:0[1-9]|1[0-2]|[2-4][0-9])[ ]?[0-9][0-9AB][ ]?[0-9]{3}[ ]?[0-9]{3}[ ]?[0-9]{2}"
_IDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(_A + form + _Z), module)
    for form, module in (
        (r"[1-9][0-9]{5}(?:19|20)[0-9]{2}[01][0-9][0-3][0-9][0-9]{3}[0-9Xx]", "stdnum.cn.ric"),
        (r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]", "stdnum.it.codicefiscale"),
        (r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", "stdnum.br.cpf"),
        (r"[0-9]{2}\.[0-9]{3}\.[0-9]{3}/[0-9]{4}-[0-9]{2}", "stdnum.br.cnpj"),
        (_NIR, "stdnum.fr.nir"),
        (r"[0-9]{8}-?[A-HJ-NP-TV-Z]", "stdnum.es.dni"),
        (r"[XYZ]-?[0-9]{7}-?[A-HJ-NP-TV-Z]", "stdnum.es.nie"),
        (r"(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}", "stdnum.us.ssn"),
        (rf"{_NINO}[ ]?[0-9]{{2}}[ ]?[0-9]{{2}}[ ]?[0-9]{{2}}[ ]?[A-D]", ""),
        (r"756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}", "stdnum.ch.ssn"),
        (r"[0-9]{6}[-+A][0-9]{3}[0-9A-FHJ-NPR-Y]", "stdnum.fi.hetu"),
        (r"[0-9]{6}[ ]?[0-9]{4}[ ]?[012][89][0-9]", "stdnum.za.idnr"),
        (r"[0-9]{6}[ ]?[0-9]{5}", "stdnum.no.fodselsnummer"),
        (r"[0-9]{6}-[1-8][0-9]{6}", "stdnum.kr.rrn"),
        (r"[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}\.[0-9]{2}", "stdnum.be.nn"),
        (r"[A-Z]{4}[0-9]{6}[HM][A-Z]{5}[0-9A-Z][0-9]", "stdnum.mx.curp"),
    )
)
"""Forms that are rare enough to count without a label, and the module that checks each ("": the form is enough; HMRC,
National Insurance Manual NIM39110)."""

_CANDIDATE = re.compile(r"(?<![A-Za-z0-9])(?![0-9]{4}-[0-9]{2}-[0-9]{2}[T ])[A-Z]{0,6}+[0-9][A-Z0-9x .+/-]{7,40}+")
"""Where an id may be."""
_LEAST_DIGITS = 6

_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}+@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![A-Za-z0-9])"
)
_PHONE = re.compile(
    r"(?<![A-Za-z0-9.+/:-])(?:\+[1-9][0-9]{0,2}[ .-]?(?:\(0?[0-9]{1,4}\)[ .-]?)?[0-9]{1,5}(?:[ .-]?[0-9]{2,5}){1,4}"
    r"|\([0-9]{3}\)[ ]?[0-9]{3}[-. ][0-9]{4}|[0-9]{3}-[0-9]{3}-[0-9]{4}"
    r"|0[0-9]{2,4}[ /-][0-9]{3,8}(?:[ -][0-9]{2,5}){0,3})"
    r"(?![A-Za-z0-9]|[.:-][0-9])"
)


def find_ibans(text: str, *, read: bool = False) -> Iterator[RedactedSpan]:
    """Yield bank accounts with a right checksum; `read`: read off a screen, where letters stand for digits."""
    for match in (_READ_IBAN if read else _IBAN).finditer(text):
        end = _iban_end(match[0], read=read)
        if end:
            yield RedactedSpan(match.start(), match.start() + end, Rule.IBAN)


def _iban_end(written: str, *, read: bool) -> int:
    """Return how much of `written` is an account; 0 for none. A word in capitals may follow one."""
    is_valid = _check("stdnum.iban")
    end = len(written)
    while end > 14:
        packed = re.sub("[ .-]", "", written[:end])
        if is_valid(packed):
            return end
        if read and (is_valid(packed.translate(_READ_AS)) or is_valid(packed[:2] + packed[2:].translate(_READ_AS))):
            return end
        cut = max(written.rfind(" ", 0, end), written.rfind("-", 0, end))
        if cut < 0:
            break
        end = cut
    # On a screen one character may be wrong, and four groups of four after a country are an account all the same.
    printed = read and written[:2] in _IBAN_COUNTRIES and _PRINTED_IBAN.match(written)
    return len(written) if printed else 0


_COUNTRIES = """
AD AE AL AT AZ BA BE BG BH BR CH CR CY CZ DE DK EE ES FI FR GB GE GI GR HR HU IE IL IS IT KW KZ LB LI LT LU LV MC MD ME
MK MT NL NO PL PT QA RO RS SA SE SI SK SM TN TR UA
"""
_IBAN_COUNTRIES = frozenset(_COUNTRIES.split())
_PRINTED_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}(?: [A-Z0-9]{4}){3,}")


def find_ids(text: str) -> Iterator[RedactedSpan]:
    """Yield national ids that their form alone identifies."""
    for place in _CANDIDATE.finditer(text):
        if sum(map(str.isdigit, place[0])) < _LEAST_DIGITS:
            continue
        for pattern, module in _IDS:
            for match in pattern.finditer(text, place.start(), min(len(text), place.end() + 1)):
                if not module or _check(module)(match[0]):
                    yield RedactedSpan(*match.span(), Rule.ID)


def find_emails(text: str) -> Iterator[RedactedSpan]:
    """Yield e-mail addresses."""
    if "@" in text:
        yield from (RedactedSpan(*match.span(), Rule.EMAIL) for match in _EMAIL.finditer(text))


def find_phones(text: str) -> Iterator[RedactedSpan]:
    """Yield phone numbers of at least seven digits in their printed forms."""
    for match in _PHONE.finditer(text):
        if 7 <= sum(c.isdigit() for c in match[0]) <= 15:
            yield RedactedSpan(*match.span(), Rule.PHONE)


@cache
def _check(module: str) -> Callable[[str], bool]:
    # When the first number of its form comes: most texts hold none.
    found: Callable[[str], bool] = import_module(module).is_valid
    return found
