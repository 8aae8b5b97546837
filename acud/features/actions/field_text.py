"""Whether a field reads what was typed into it: pure comparison of texts.

A field may write what it takes in its own way (`(555) 123-4567`, `7 kg`, `1,234.50`), and a program may complete it.
A text that lacks a character, be it a space, is neither, and is told as it is.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Outcome = Literal["as_wanted", "reformatted", "completed", "different", "unchanged"]

CARET = ("|", "l", "I", "i")
"""What OCR reads for the caret behind a text."""

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?", re.ASCII)
_GROUPED = re.compile(r"(?<=\d)[,' ](?=\d{3}(?!\d))", re.ASCII)
_DATE = re.compile(r"\d{1,4}([-/. ])\d{1,2}\1\d{1,4}", re.ASCII)


def typed_outcome(before: str, typed: str, now: str, *, replaced: bool, is_date: bool = False) -> Outcome:
    """Return how `now`, the field's text, stands to `typed`, which was typed into `before`, or in its place.

    `is_date`: the field is one for dates, whose day, month and year may stand in another order and with zeros before.
    """
    before, typed, now = _plain(before), _plain(typed), _plain(now)
    shown = (now, now.removesuffix("\n"))  # editors of several lines end the last one too
    if typed in shown or (not replaced and any(_inserted(before, typed, one) for one in shown)):
        return "as_wanted"
    if now == before:
        return "unchanged"
    wanted = typed if replaced else before + typed
    if is_date and _same_date(typed, now):
        return "reformatted"
    if (_letters(now) == _letters(wanted) and _has_all(typed, now)) or _same_number(typed, now):
        return "reformatted"
    if wanted and now.casefold().startswith(wanted.casefold()):
        return "completed"
    return "different"


def chosen(option: str, reads: tuple[str, ...]) -> bool:
    """Tell whether `option` is one of what a list reads: by its words, whatever case and white space."""
    wanted = _folded(option)
    return bool(wanted) and any(_folded(one) == wanted for one in reads)


def has_content(text: str) -> bool:
    """Tell whether a field's text is more than the marks of an empty mask, such as `(   )    -`."""
    return any(character.isalnum() for character in text)


def _plain(text: str) -> str:
    """Return `text` as it is compared: composed, with plain spaces and line ends."""
    spaces = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(" " if one != "\n" and one.isspace() else one for one in spaces)


def _inserted(before: str, typed: str, now: str) -> bool:
    """Tell whether `now` is `before` with `typed` at one place."""
    if len(now) != len(before) + len(typed):
        return False
    head = next((n for n, pair in enumerate(zip(before, now, strict=False)) if pair[0] != pair[1]), len(before))
    # The same characters left and right of it: it may as well begin some places earlier.
    return any(
        now[at : at + len(typed)] == typed and now[:at] + now[at + len(typed) :] == before
        for at in range(max(0, head - len(typed)), head + 1)
    )


def _letters(text: str) -> str:
    """Return what a format leaves of `text`: letters and digits, and nothing that a mask adds.

    A sign and a decimal point are no decoration: `-5` is not `5`, and `1.5` is not `15`.
    """
    kept = _GROUPED.sub("", text)
    signs = [one.group() for one in _NUMBER.finditer(kept)] if _is_number(kept) else []
    return "".join(signs) if signs else "".join(one for one in kept.casefold() if one.isalnum())


def _has_all(typed: str, now: str) -> bool:
    """Tell whether every character of `typed` is in `now`, in its order: a field may add to it (`(555) 123-4567`), and
    what is missing was lost. Return and Tab at the end are keys. A field of digits may leave out what stands between
    them, as one for dates does.
    """
    if not any(one.isalpha() for one in typed):
        return True
    rest = iter(now.casefold())
    return all(one in rest for one in typed.casefold().rstrip("\n\t"))


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text.strip()) is not None


def _same_number(typed: str, now: str) -> bool:
    """Tell whether `now` holds one number, with a unit or zeros perhaps, and it is the one typed."""
    wanted = _GROUPED.sub("", typed.strip())
    found = _NUMBER.findall(_GROUPED.sub("", now))
    return _is_number(wanted) and len(found) == 1 and float(found[0]) == float(wanted)


def _same_date(typed: str, now: str) -> bool:
    """Tell whether both are dates of the same three numbers."""
    if not _DATE.fullmatch(typed.strip()) or not _DATE.fullmatch(now.strip()):
        return False
    parts = [sorted(int(part) for part in re.findall(r"\d+", text)) for text in (typed, now)]
    return parts[0] == parts[1]


def _folded(text: str) -> str:
    return " ".join(_plain(text).casefold().split())
