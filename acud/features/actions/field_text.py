"""Compares a field's text with what was typed into it. Pure.

A field may reformat a text (`(555) 123-4567`, `7 kg`, `1,234.50`), and a program may complete it. A text that lacks a
character, be it a space, is neither.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Outcome = Literal["as_wanted", "reformatted", "completed", "different", "unchanged"]

CARET = ("|", "l", "I", "i")
"""Characters that OCR reads for the caret behind a text."""

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?", re.ASCII)
_GROUPED = re.compile(r"(?<=\d)[,' ](?=\d{3}(?!\d))", re.ASCII)
_DATE = re.compile(r"\d{1,4}([-/. ])\d{1,2}\1\d{1,4}", re.ASCII)


def typed_outcome(before: str, typed: str, now: str, *, replaced: bool, is_date: bool = False) -> Outcome:
    """Return how `now`, the field's text, compares with `typed`, which was added to `before` or `replaced` it.

    `is_date`: a date field may reorder day, month and year, and add leading zeros.
    """
    before, typed, now = _normalise(before), _normalise(typed), _normalise(now)
    shown = (now, now.removesuffix("\n"))  # editors of several lines end the last one too
    if typed in shown or (not replaced and any(_is_inserted(before, typed, one) for one in shown)):
        return "as_wanted"
    if now == before:
        return "unchanged"
    wanted = typed if replaced else before + typed
    if is_date and _is_same_date(typed, now):
        return "reformatted"
    if (_keep_letters(now) == _keep_letters(wanted) and _has_all(typed, now)) or _is_same_number(typed, now):
        return "reformatted"
    if wanted and now.casefold().startswith(wanted.casefold()):
        return "completed"
    return "different"


def is_chosen(option: str, reads: tuple[str, ...]) -> bool:
    """Return whether `option` is among the texts that a list `reads`, ignoring case and white space."""
    wanted = _fold_words(option)
    return bool(wanted) and any(_fold_words(one) == wanted for one in reads)


def has_content(text: str) -> bool:
    """Return whether a field's text is more than an empty mask, such as `(   )    -`."""
    return any(character.isalnum() for character in text)


def _normalise(text: str) -> str:
    """Return `text` in the form for comparison: composed, with plain spaces and line ends."""
    spaces = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(" " if one != "\n" and one.isspace() else one for one in spaces)


def _is_inserted(before: str, typed: str, now: str) -> bool:
    if len(now) != len(before) + len(typed):
        return False
    head = next((n for n, pair in enumerate(zip(before, now, strict=False)) if pair[0] != pair[1]), len(before))
    # If the characters before it repeat its own, it may begin earlier.
    return any(
        now[at : at + len(typed)] == typed and now[:at] + now[at + len(typed) :] == before
        for at in range(max(0, head - len(typed)), head + 1)
    )


def _keep_letters(text: str) -> str:
    """Return the letters and digits of `text`, without a mask's characters.

    A number keeps its sign and decimal point: `-5` is not `5`, and `1.5` is not `15`.
    """
    kept = _GROUPED.sub("", text)
    signs = [one.group() for one in _NUMBER.finditer(kept)] if _is_number(kept) else []
    return "".join(signs) if signs else "".join(one for one in kept.casefold() if one.isalnum())


def _has_all(typed: str, now: str) -> bool:
    """Return whether `now` has every character of `typed`, in order, and maybe more. Return and Tab at the end are
    keys. A text without letters passes: a field of digits may drop the characters between them.
    """
    if not any(one.isalpha() for one in typed):
        return True
    rest = iter(now.casefold())
    return all(one in rest for one in typed.casefold().rstrip("\n\t"))


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text.strip()) is not None


def _is_same_number(typed: str, now: str) -> bool:
    """Return whether `now` holds just the number typed, perhaps with a unit or zeros."""
    wanted = _GROUPED.sub("", typed.strip())
    found = _NUMBER.findall(_GROUPED.sub("", now))
    return _is_number(wanted) and len(found) == 1 and float(found[0]) == float(wanted)


def _is_same_date(typed: str, now: str) -> bool:
    if not _DATE.fullmatch(typed.strip()) or not _DATE.fullmatch(now.strip()):
        return False
    parts = [sorted(int(part) for part in re.findall(r"\d+", text)) for text in (typed, now)]
    return parts[0] == parts[1]


def _fold_words(text: str) -> str:
    return " ".join(_normalise(text).casefold().split())
