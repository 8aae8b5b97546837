"""A call written as text, `click(847, 523)`: its name and its arguments, whole numbers and quoted words alone."""

from __future__ import annotations

import re
from typing import Any

_CALL = re.compile(r"(?P<name>[A-Za-z][A-Za-z_-]*)\s*\((?P<given>.*)\)\s*;?", re.DOTALL)
_ARGUMENT = re.compile(
    r"""\s*(?:(?P<number>[+-]?\d{1,6})|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)')\s*""", re.DOTALL
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MEANT = {"n": "\n", "t": "\t"}


def call_of(text: str) -> tuple[str, tuple[Any, ...]] | None:
    """Return (name in lower case, arguments as int or str), or None when `text` is no such call.

    `\\n` and `\\t` in quotation marks are a line feed and a tab, any other escaped character is itself.
    """
    found = _CALL.fullmatch(text)
    if found is None:
        return None
    given = _arguments(found["given"])
    return None if given is None else (found["name"].lower(), given)


def _arguments(text: str) -> tuple[Any, ...] | None:
    if not text.strip():
        return ()
    given: list[Any] = []
    place = 0
    while True:
        found = _ARGUMENT.match(text, place)
        if found is None:
            return None
        given.append(_value(found))
        place = found.end()
        if place == len(text):
            return tuple(given)
        if text[place] != ",":
            return None
        place += 1


def _value(found: re.Match[str]) -> int | str:
    if found["number"] is not None:
        return int(found["number"])
    words = found["double"] if found["double"] is not None else found["single"]
    return _ESCAPE.sub(lambda one: _MEANT.get(one[1], one[1]), words)
