"""Numbers as programs and people write them: signs, thousands, currencies, scales ("1.2k", "3 Mio."), "99+", units.

Programs write numbers by the user's locale: 1,234.5 or 1.234,5 or 1 234 or 1'234.50. A text that can be two numbers has
both as its values; a comparison is certain only when it is the same for all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from msgspec import Struct

from acud.language.quotation_marks import DASHES

_SPACES = "\u0020\u00a0\u2009\u202f'’"  # separators of thousands, beside commas and points
_NO_SPACES, _NO_POINTS = dict.fromkeys(map(ord, _SPACES)), dict.fromkeys(map(ord, ".,"))
_MINUS = DASHES.translate({ord("—"): None, ord("―"): None})  # dashes that are a minus also apart from their number
_CURRENCY = r"[A-Z]{0,3}[$¢-¥֏؋฿₠-⃀]|(?:USD|EUR|GBP|JPY|INR|CHF)(?![^\W\d_])"
_SCALES = {
    "k": 1e3, "tsd": 1e3, "thousand": 1e3, "万": 1e4, "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6, "millions": 1e6,
    "亿": 1e8, "億": 1e8, "b": 1e9, "bn": 1e9, "mrd": 1e9, "md": 1e9, "billion": 1e9, "billions": 1e9,
}  # fmt: skip
_ALSO_UNITS = re.compile(r"\s[A-Za-z]|[mB]")  # scales that may as well be a unit: "5 M", "300 K", "512B", "20m"
_SCALE = "|".join(sorted((rf"{one}\b\.?" if one.isascii() else one for one in _SCALES), key=len, reverse=True))
_GROUPED = rf"\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?!\d)(?:[.,]\d+)?"
_APART = rf"\d+(?:[.,]\d+)?(?:\s\d+(?:[.,]\d+)?)+(?![{DASHES}\d:/_]|[.,]\d)"
"""Digits separated by blanks, but not by thousands: one number or more."""
_TOKEN = re.compile(
    rf"(?<![\w.,])(?P<least>(?<![-=])[>≥]\s?)?(?P<open>\()?(?P<sign>[{_MINUS}+]\s?|[—―])?"
    rf"(?:(?P<before>{_CURRENCY})\s?)?(?P<inner>[{DASHES}+])?"
    rf"(?P<digits>{_GROUPED}(?!\s\d)|{_APART}|\d+(?:[.,]\d+)*|[.,]\d+)(?!\d)"
    rf"(?P<scale>\s?(?i:{_SCALE}))?(?P<more>\s?\+(?!\s?\d))?(?:\s?(?P<after>%|‰|°[CF]?|{_CURRENCY}|[^\W\d_]{{1,12}}"
    r"(?:/[^\W\d_]{1,4})?))?(?P<close>\))?"
)
_IN_A_DATE = re.compile(rf"[{DASHES}:_]\d|\.\d|/\d+/")
_AFTER_A_NUMBER = re.compile(rf"(?<=\d)[{DASHES}:/_]|(?<=[<≤])\s?")
"""The second number of "57/90" is not the count, and that of "< 5" only a bound."""
_DASH_IN_WORD = re.compile(rf"(?<=[^\W\d_])[{DASHES}]$")  # A dash right after a letter, as in "B-5"
_OF_AN_ADDRESS = re.compile(r"://|[?&][\w.-]+=|\w\.[a-z]{2,}[:/?]|^[\w.-]+:\d+/", re.IGNORECASE)
_SUFFIX = re.compile(r"\w+")
_ORDINAL_ENDINGS = ("st", "nd", "rd", "th")
_GROUPS = re.compile(r"\d{1,3}(?:\.\d{3})+|\d{1,3}(?:,\d{2,3})*,\d{3}")
_IS_A_LABEL = re.compile(r"\s?[:=]")
TIME_UNITS = {
    "ms": 0.001, "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0, "min": 60.0, "mins": 60.0,
    "minute": 60.0, "minutes": 60.0, "h": 3600.0, "hr": 3600.0, "hrs": 3600.0, "hour": 3600.0, "hours": 3600.0,
    "d": 86400.0, "day": 86400.0, "days": 86400.0,
}  # fmt: skip
"""Units of time, in seconds."""
_FAMILIES: tuple[dict[str, float], ...] = (
    {
        **{f"{p}b": 1000.0**n for n, p in enumerate(("", "k", "m", "g", "t", "p"))},
        **{f"{p}ib": 1024.0**n for n, p in enumerate(("", "k", "m", "g", "t", "p")) if p},
        "byte": 1.0, "bytes": 1.0,
    },
    TIME_UNITS,
    *(
        dict.fromkeys(units.split(), 1.0)
        for units in (
            "% percent", "$ us$ usd dollar dollars", "€ eur euro euros", "£ gbp", "¥ jpy yen", "₹ inr rupees", "° °c",
        )
    ),
)  # fmt: skip
"""Units by sort, with their size in the smallest one; KB is 1000 bytes, KiB 1024. Signs and their words."""
NUMBER_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "sixty": 60,
}  # fmt: skip
COUNT_WORDS = {**NUMBER_WORDS, "a": 1, "an": 1, "half a": 0.5}
"""Before a unit: half a minute."""
_FIRST = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
ORDINALS = {word: n for n, word in enumerate(_FIRST, 1)} | {f"{n}{_ENDINGS.get(n, 'th')}": n for n in range(1, 21)}
ORDINALS["last"] = -1


class NumberSeen(Struct, frozen=True):
    """A number in a text, from `start` to `end`. `values`: its possible values, usually one. `unit`: what stands with
    it, "" for none.

    `is_least`: it is written as a lower bound ("99+", "> 5"). `scale`, `bare`: letters that may scale it or be its unit
    ("M", "B"), and its values in that unit.
    """

    start: int
    end: int
    text: str
    values: tuple[float, ...]
    unit: str
    is_least: bool = False
    scale: str = ""
    bare: tuple[float, ...] = ()

    @property
    def counts_else(self) -> bool:
        """Whether its unit is a counted thing ("5 files"), not a unit of measure."""
        return bool(self.unit) and not is_unit(self.unit)

    def values_in(self, unit: str) -> tuple[float, ...]:
        """Return its possible values in `unit` ("": its own unit); none if its unit is of another sort."""
        if not unit:
            return tuple(dict.fromkeys((*self.bare, *self.values)))
        for own, values in ((self.unit, self.values), (self.scale, self.bare)):
            factor = unit_factor(unit, own)
            if values and factor is not None:
                return tuple(_round_off(value * factor) for value in values)
        return ()


def numbers_in(text: str, start: int = 0) -> Iterator[NumberSeen]:
    """Yield the numbers of `text` from `start` on, without dates, times, versions, addresses and words with digits."""
    for found in _TOKEN.finditer(text, start):
        begins, ends = found.span("digits")
        if _IN_A_DATE.match(text, ends) or (begins and _AFTER_A_NUMBER.match(text, found.start() - 1)):
            continue
        if _OF_AN_ADDRESS.search(_find_chunk(text, begins)):
            continue
        suffix = None if found["scale"] or found["more"] else _SUFFIX.match(text, ends)
        if suffix is not None and (not found["after"] or suffix[0] in _ORDINAL_ENDINGS):
            continue
        seen = _parse_number(found, text)
        if seen.values:
            yield seen


def _parse_number(match: re.Match[str], text: str) -> NumberSeen:
    bare = tuple(value for one in _parse_values(match["digits"]) for value in _apply_sign(match, one))
    if _DASH_IN_WORD.search(text, 0, match.start()):  # "Room B-5", or "Balance -5" without its blank
        bare = tuple(value for one in bare for value in (one, -one))
    unit, end = match["after"] or "", match.end()
    if unit and (unit.isalpha() or "/" in unit) and _IS_A_LABEL.match(text, match.end("after")):
        unit, end = "", match.start("after")  # "errors=3 warnings=4": the next label
    unit = match["before"] or unit
    scale = match["scale"] or ""
    letters = scale.strip().rstrip(".")
    factor = _SCALES.get(letters.casefold(), 1.0)
    values = tuple(_round_off(value * factor) for value in bare)
    may_be_unit = _ALSO_UNITS.fullmatch(scale) is not None
    is_least = bool(match["more"] or match["least"])
    words = text[match.start() : end].strip()
    return NumberSeen(
        match.start(), end, words, values, unit, is_least, letters if may_be_unit else "", bare if may_be_unit else ()
    )


def _apply_sign(match: re.Match[str], value: float) -> tuple[float, ...]:
    """Return the possible values with their sign: a separate dash may not be a minus, and accountants put losses in
    brackets ("($1,234.00)").
    """
    sign = match["sign"] or match["inner"] or ""
    if match["open"] and match["close"] and (match["before"] or "." in match["digits"] or "," in match["digits"]):
        return value, -value
    if not sign or sign[0] == "+":
        return (value,)
    return (-value, value) if sign[1:] else (-value,)


def _find_chunk(text: str, place: int) -> str:
    return text[text.rfind(" ", 0, place) + 1 :].split(" ", 1)[0]


def _parse_values(digits: str) -> tuple[float, ...]:
    """Return the possible values of digits: a point before three digits may be a decimal or a thousands point, and "10
    0" is 10, 100 or 0.
    """
    parts = digits.split()
    if len(parts) > 1 and not re.fullmatch(_GROUPED, digits):
        return tuple(dict.fromkeys(n for one in (parts[0], "".join(parts), *parts[1:]) for n in _parse_values(one)))
    plain = unicodedata.normalize("NFKC", digits.translate(_NO_SPACES))
    points, commas = plain.count("."), plain.count(",")
    if points and commas:
        decimal = "." if plain.rfind(".") > plain.rfind(",") else ","
        whole, _, rest = plain.rpartition(decimal)
        return (float(whole.translate(_NO_POINTS) + "." + rest),) if decimal not in whole else ()
    if points + commas > 1:
        return (float(plain.translate(_NO_POINTS)),) if _GROUPS.fullmatch(plain) else ()
    if points + commas == 0:
        return (float(plain),)
    whole, _, rest = plain.replace(",", ".").partition(".")
    decimal_value = float(f"{whole or 0}.{rest}")
    if len(rest) != 3 or len(whole) > 3 or not whole or whole.startswith("0") or plain != digits:
        return (decimal_value,)
    # "1,234" with three places after a decimal comma is rare; "1.234" is as often a time as a German thousand.
    return (float(whole + rest),) if commas else (decimal_value, float(whole + rest))


def is_unit(word: str) -> bool:
    """Return whether a table knows `word` as a unit of measure."""
    return any(word.casefold() in units for units in _FAMILIES)


def unit_factor(wanted: str, seen: str) -> float | None:
    """Return the factor from the unit `seen` to `wanted`; None if they are of different sorts."""
    a, b = wanted.casefold(), seen.casefold()
    if a == b:
        return 1.0
    sort = next((units for units in _FAMILIES if a in units or b in units), None)
    if sort is not None:
        return sort[b] / sort[a] if a in sort and b in sort else None
    return 1.0 if b and a.rstrip("s") == b.rstrip("s") else None  # "error" and "errors"


def _round_off(value: float) -> float:
    """Return the value without rounding errors: 0.9 GB are 900 MB, not 900.0000000000001."""
    return float(f"{value:.12g}")
