"""Personal data in text: payment card numbers, and what people mark as private themselves (`<private>` … `</private>`).

Cards: 13 to 19 digits in groups, a known issuer's first digits, and the check digit. The lengths and first digits are
those of ISO/IEC 7812 issuers as the networks publish them; the check is Luhn's (ISO/IEC 7812-1, annex B). An engine may
misread one digit of a number on a screen: there the check is not required where issuer and grouping already mean
"card", and letters that look like digits count as digits.

A private region that is never closed goes to the end; if its start has scrolled away, it begins with the text: in doubt
more is hidden. Regions do not nest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from acud.features.redaction.rule_data import forms
from acud.features.redaction.spans import RedactedSpan, Rule

_MAX_GROUPS = 8
_MIN_DIGITS, _MAX_DIGITS = 13, 19

_GROUP = re.compile(r"[0-9]++")
_READ_GROUP = re.compile(r"(?<![A-Za-z])[0-9OoQDIl|SBZ]*+(?![A-Za-z])")
_READ_AS = str.maketrans("OoQDIl|SBZ", "0000111582")
_GAPS = frozenset((" ", "-", "\u00a0", "\u2009", "\u2010", "\u2011", "\u2013"))
_READ_GAPS = _GAPS | {".", "  ", "- ", " -", "\t"}

_ISSUERS: tuple[tuple[range, frozenset[int]], ...] = (
    (range(4000, 5000), frozenset((13, 16, 19))),  # Visa
    (range(5100, 5600), frozenset((16,))),  # Mastercard
    (range(2221, 2721), frozenset((16,))),
    (range(2200, 2205), frozenset((16,))),  # Mir
    (range(3400, 3500), frozenset((15,))),  # American Express
    (range(3700, 3800), frozenset((15,))),
    (range(3000, 3060), frozenset((14, 16))),  # Diners Club
    (range(3600, 3700), frozenset((14, 16))),
    (range(3800, 4000), frozenset((14, 16))),
    (range(3528, 3590), frozenset((16, 17, 18, 19))),  # JCB
    (range(6011, 6012), frozenset((16, 17, 18, 19))),  # Discover
    (range(6440, 6600), frozenset((16, 17, 18, 19))),
    (range(6200, 6300), frozenset((16, 17, 18, 19))),  # UnionPay
    (range(8100, 8200), frozenset((16, 17, 18, 19))),
    *((range(n, n + 1), frozenset(range(13, 20))) for n in (5018, 5020, 5038, 5893, 6304, 6759, 6761, 6762, 6763)),
)
"""First four digits and the lengths that go with them; the last row is Maestro."""

_LAYOUTS = {(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (4, 4, 5)}
"""How cards print their numbers."""
_DOUBLED = str.maketrans("0123456789", "0246813579")


def find_cards(text: str, *, read: bool = False) -> Iterator[RedactedSpan]:
    """Yield the card numbers in `text`; `read`: it was read off a screen. Time is in proportion to the length."""
    for run in _digit_runs(text, read):
        start = 0
        while start < len(run):
            taken = _card_groups(text, run, start, read)
            if taken and not forms()["number of thing"].search(text, max(0, run[start][0] - 24), run[start][0]):
                end = run[start + taken - 1][1]
                yield RedactedSpan(run[start][0], end, Rule.CARD)
                code = forms()["code of card"].match(text, end)
                if code is not None:
                    yield RedactedSpan(*code.span("value"), Rule.CODE)
            start += taken or 1


_Place = tuple[int, int]


def _digit_runs(text: str, read: bool) -> Iterator[list[_Place]]:
    """Yield the groups of digits with only a gap between two of them."""
    gaps = _READ_GAPS if read else _GAPS
    run: list[_Place] = []
    for match in (_READ_GROUP if read else _GROUP).finditer(text):
        if match.end() == match.start():
            continue
        before = f"  {text[max(0, match.start() - 3) : match.start()]}"
        fraction = before[-1] == "." and before[-2].isdigit() and not before[-3].isalnum()  # of a number less than ten
        if fraction or not any(map(str.isdigit, match[0])):
            if run:
                yield run
            run = []
            continue
        if run and text[run[-1][1] : match.start()] not in gaps:
            yield run
            run = []
        run.append(match.span())
    if run:
        yield run


def _card_groups(text: str, run: list[_Place], first: int, read: bool) -> int:
    """Return how many groups from `first` on are one card number; 0 for none."""
    digits = ""
    layout: list[int] = []
    best = 0
    for place in run[first : first + _MAX_GROUPS]:
        group = text[place[0] : place[1]]
        digits += group.translate(_READ_AS) if read else group
        layout.append(len(group))
        if len(digits) > _MAX_DIGITS:
            break
        # Cards are printed with blanks: with hyphens a number is an order's, unless its check digit is right.
        loose = read and "-" not in text[run[first][0] : place[1]]
        if len(digits) >= _MIN_DIGITS and _is_card(digits, tuple(layout), loose):
            best = len(layout)
    return best


def _is_card(digits: str, layout: tuple[int, ...], read: bool) -> bool:
    lengths = _find_lengths(digits)
    if len(digits) in lengths and luhn(digits):
        return True
    if not read:
        return False
    # One digit wrong, or one lost or doubled within a group of four.
    whole = len(digits) in lengths and (len(layout) == 1 or layout in _LAYOUTS)
    return whole or (len(layout) == 4 and bool(lengths) and all(3 <= size <= 5 for size in layout))


def _find_lengths(digits: str) -> frozenset[int]:
    head = int(digits[:4])
    return next((lengths for heads, lengths in _ISSUERS if head in heads), frozenset())


def luhn(digits: str) -> bool:
    """Return whether the last of `digits` is the check digit of the digits before it."""
    odd = sum(map(int, digits[-1::-2]))
    return (odd + sum(map(int, digits[-2::-2].translate(_DOUBLED)))) % 10 == 0


_TAG = re.compile(
    r"(?:[<‹«＜(\[{][ ]?(?P<close>[/1Il|\\]?)[ ]?pr[il1|!]va[tl]e[ ]?[>›»＞)\]}]?"
    r"|(?P<bare>[/\\]?)pr[il1|!]va[tl]e[>›»＞])",
    re.IGNORECASE,
)
"""As an engine reads it: one bracket may be lost, and the slash may stand for a letter that looks like it."""


def find_private(text: str, *, read: bool = False) -> Iterator[RedactedSpan]:
    """Yield the private regions of `text`, their tags included."""
    start: int | None = None
    end = 0
    for tag in _TAG.finditer(text):
        if not read and tag[0].lower() not in ("<private>", "</private>"):
            continue
        closes = bool(tag["close"] or (read and tag["bare"]))
        if not closes:
            start = tag.start() if start is None else start
            continue
        if start is not None:
            yield RedactedSpan(start, tag.end(), Rule.PRIVATE)
        else:
            yield RedactedSpan(end, tag.end(), Rule.PRIVATE)
        start, end = None, tag.end()
    if start is not None:
        yield RedactedSpan(start, len(text), Rule.PRIVATE)
