"""Where words stand in text that was read; and its numbers: which is meant, with its unit, and how it compares.

Programs write numbers in their reader's way: 1,234.5 or 1.234,5 or 1 234. Where one text can be two numbers, both are
compared, and the answer is certain only when it is the same for both.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from acud.types import Comparison, Rect, ScreenNumber, Verdict, no, unknown, yes

_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of scripts that put no spaces between words, where words end is not to be seen."""
_SPACES = "\u0020\u00a0\u2009\u202f'’"
"""What stands between thousands, beside commas and points."""
_TOKEN = re.compile(
    rf"(?<![\w.,])(?P<before>[$€£¥₹])?\s?(?P<sign>[-+−]\s?)?(?P<digits>\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*)"
    r"(?![\d])(?:\s?(?P<after>%|‰|°[CF]?|[$€£¥₹]|[^\W\d_]{1,12}(?:/[^\W\d_]{1,4})?))?"
)
_IN_A_DATE = re.compile(r"[:_-]\d|\.\d|/\d+/")
_AFTER_A_NUMBER = re.compile(r"(?<=\d)[:/_-]")
"""The second number of "57/90" is not what is counted."""
_WORD = re.compile(r"\w{2,}")
_MOST_BETWEEN = 3
"""Words between a label and its number."""
_ORDINAL, _OF_A_WORD = re.compile(r"(?:st|nd|rd|th)\b"), re.compile(r"\w")
_GROUPS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_ORDER: dict[Comparison, Callable[[float, float], bool]] = {
    Comparison.AT_LEAST: operator.ge, Comparison.MORE: operator.gt, Comparison.EQUAL: operator.eq,
    Comparison.NOT_EQUAL: operator.ne, Comparison.LESS: operator.lt, Comparison.AT_MOST: operator.le,
}  # fmt: skip
_FAMILIES: tuple[dict[str, float], ...] = (
    {
        **{f"{p}b": 1000.0**n for n, p in enumerate(("", "k", "m", "g", "t", "p"))},
        **{f"{p}ib": 1024.0**n for n, p in enumerate(("", "k", "m", "g", "t", "p")) if p},
        "byte": 1.0, "bytes": 1.0,
    },
    {
        "ms": 0.001, "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0, "min": 60.0, "mins": 60.0,
        "minute": 60.0, "minutes": 60.0, "h": 3600.0, "hr": 3600.0, "hrs": 3600.0, "hour": 3600.0, "hours": 3600.0,
        "d": 86400.0, "day": 86400.0, "days": 86400.0,
    },
    *(
        dict.fromkeys(units.split(), 1.0)
        for units in ("% percent", "$ usd dollar dollars", "€ eur euro euros", "£ gbp", "¥ jpy yen", "₹ inr rupees")
    ),
)  # fmt: skip
"""Units of one sort, by how much they are of the smallest; sizes of 1000 unless they say KiB. Signs and their words."""
_MAX_QUOTE = 80


def is_whole(text: str, start: int, end: int) -> bool:
    """Tell whether no letter or digit is right before or right after `text[start:end]`, as a part of its words."""
    return not (
        _joins(text[start - 1 : start], text[start : start + 1]) or _joins(text[end - 1 : end], text[end : end + 1])
    )


def spaced(text: str) -> str:
    """Return `text` with white space folded, and compatibility forms (full-width letters, ligatures) made plain."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def places_of(wanted: str, text: str, *, whole_words: bool) -> Iterator[tuple[int, int]]:
    """Yield where `wanted` begins and ends in `text`, each place behind the one before; nowhere when it is empty."""
    start = text.find(wanted) if wanted else -1
    while start >= 0:
        end = start + len(wanted)
        is_one = not whole_words or is_whole(text, start, end)
        if is_one:
            yield start, end
        start = text.find(wanted, end if is_one else start + 1)


def _joins(before: str, after: str) -> bool:
    if not (before and after) or _WITHOUT_SPACES.match(before) or _WITHOUT_SPACES.match(after):
        return False
    return _is_of_a_word(before) and _is_of_a_word(after)


def _is_of_a_word(char: str) -> bool:
    return char.isalnum() or char == "_"


# ---- numbers -------------------------------------------------------------------------------------------------------


class NumberSeen(Struct, frozen=True):
    """A number in a text, from `start` to `end` in it. `values`: what it may be, usually one. `unit`: what stands with
    it, "" for none.
    """

    start: int
    end: int
    text: str
    values: tuple[float, ...]
    unit: str


def numbers_in(text: str, start: int = 0) -> Iterator[NumberSeen]:
    """Yield the numbers of `text` from `start` on. Dates, times, versions and words with digits in them are none."""
    for found in _TOKEN.finditer(text, start):
        digits = found["digits"]
        values = _values(digits)
        begins, ends = found.span("digits")
        if not values or _IN_A_DATE.match(text, ends) or (begins and _AFTER_A_NUMBER.match(text, begins - 1)):
            continue
        if (_ORDINAL if found["after"] else _OF_A_WORD).match(text, ends):
            continue
        sign = -1.0 if (found["sign"] or "").strip() in ("-", "−") else 1.0
        unit = found["after"] or found["before"] or ""
        yield NumberSeen(found.start(), found.end(), found[0].strip(), tuple(sign * value for value in values), unit)


def _values(digits: str) -> tuple[float, ...]:
    """Return what the digits may mean: a point before three digits is a decimal one, or one of thousands."""
    plain = re.sub(f"[{_SPACES}]", "", digits)
    points, commas = plain.count("."), plain.count(",")
    if points and commas:
        decimal = "." if plain.rfind(".") > plain.rfind(",") else ","
        whole, _, rest = plain.rpartition(decimal)
        return (float(re.sub("[.,]", "", whole) + "." + rest),) if decimal not in whole else ()
    if points + commas > 1:
        return (float(re.sub("[.,]", "", plain)),) if _GROUPS.fullmatch(plain) else ()
    if points + commas == 0:
        return (float(plain),)
    whole, rest = re.split("[.,]", plain)
    decimal_value = float(f"{whole}.{rest}")
    if len(rest) != 3 or len(whole) > 3 or whole.startswith("0") or plain != digits:
        return (decimal_value,)
    # "1,234" with three places after a decimal comma is rare; "1.234" is as often a time as a German thousand.
    return (float(whole + rest),) if commas else (decimal_value, float(whole + rest))


def first_with_unit(leaf: ScreenNumber, found: Iterable[NumberSeen]) -> NumberSeen | None:
    """Return the first number whose unit is the one that is asked for, or of its sort."""
    return next((one for one in found if not leaf.unit or unit_factor(leaf.unit, one.unit) is not None), None)


def compared(leaf: ScreenNumber, seen: NumberSeen, where: str = "", boxes: tuple[Rect, ...] = ()) -> Verdict:
    """Return the verdict on a number that was read; `where` is said after it, `boxes` hold it."""
    factor = (unit_factor(leaf.unit, seen.unit) or 1.0) if leaf.unit else 1.0
    answers = {_ORDER[leaf.compare](_rounded(value * factor), leaf.value) for value in seen.values}
    quoted = f'"{seen.text[:_MAX_QUOTE]}"{where}'
    if len(answers) > 1:
        return unreadable(f"reads {quoted}, which may be {seen.values[0]:g} or {seen.values[1]:g}")
    words = f"reads {quoted}"
    return yes(words, boxes) if True in answers else no(words, boxes)


def after_label(leaf: ScreenNumber, line: str, alike: Callable[[str], str] = str.lower) -> Iterator[NumberSeen | None]:
    """Yield for each place of the label in `line` the number that follows it there, None where none does. Few words
    may stand between them ("Downloaded so far: 90 MB"). `alike` makes texts comparable, letter by letter.
    """
    label = " ".join(leaf.label.split())
    wanted, read = alike(label), alike(line)
    if len(read) != len(line):
        wanted, read = label, line
    for _, end in places_of(wanted, read, whole_words=True):
        seen = first_with_unit(leaf, numbers_in(line, end))
        yield seen if seen is not None and len(_WORD.findall(line[end : seen.start])) <= _MOST_BETWEEN else None


def begins_with_number(leaf: ScreenNumber, line: str) -> NumberSeen | None:
    """Return the number that `line` begins with."""
    seen = first_with_unit(leaf, numbers_in(line))
    return seen if seen is not None and not _WORD.search(line[: seen.start]) else None


def agreed(leaf: ScreenNumber, verdicts: Sequence[Verdict]) -> Verdict:
    """Return what all places of the label say; unknown where they do not agree."""
    if len({verdict.answer for verdict in verdicts}) > 1:
        told = "; ".join(dict.fromkeys(verdict.detail for verdict in verdicts))
        return unreadable(f'"{leaf.label}" is there more than once: {told[:300]}')
    return verdicts[0]


def only_number(
    leaf: ScreenNumber, lines: Sequence[str], where: Callable[[int], str] = lambda _: "", boxes: Sequence[Rect] = ()
) -> Verdict:
    """Return the verdict on the only number of `lines` (with the unit, where one is asked for); `boxes`: of each line,
    or none.
    """
    found = [(at, one) for at, line in enumerate(lines) for one in numbers_in(line) if first_with_unit(leaf, [one])]
    if not found:
        return unreadable(f"no number{_of_unit(leaf)} can be read there")
    if len(found) > 1:
        some = ", ".join(f'"{one.text[:_MAX_QUOTE]}"' for _, one in found[:5])
        return unreadable(
            f"{len(found)} numbers{_of_unit(leaf)} are there ({some}): give the label of one, or its region"
        )
    at, one = found[0]
    return compared(leaf, one, where(at), tuple(boxes[at : at + 1]))


def not_after(leaf: ScreenNumber, label_is_there: bool) -> Verdict:
    """Return the verdict where no number follows the label."""
    if not label_is_there:
        return unreadable(f'the label "{leaf.label}" cannot be read there')
    return unreadable(f'no number{_of_unit(leaf)} can be read after "{leaf.label}"')


def unreadable(detail: str) -> Verdict:
    """Return that a number cannot be told for certain."""
    return unknown("unreadable", detail)


def _of_unit(leaf: ScreenNumber) -> str:
    return f' with the unit "{leaf.unit}"' if leaf.unit else ""


def unit_factor(wanted: str, seen: str) -> float | None:
    """Return what a number of the unit `seen` is multiplied by to be one of `wanted`; None: of another sort."""
    a, b = wanted.casefold(), seen.casefold()
    if a == b:
        return 1.0
    sort = next((units for units in _FAMILIES if a in units or b in units), None)
    if sort is not None:
        return sort[b] / sort[a] if a in sort and b in sort else None
    return 1.0 if a.rstrip("s") == b.rstrip("s") else None  # "error" and "errors"


def _rounded(value: float) -> float:
    """Take off what converting adds: 0.9 GB are 900 MB, and no 900.0000000000001."""
    return float(f"{value:.12g}")
