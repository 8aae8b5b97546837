"""Places on the command line: X Y, or the id of an element of a scene."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click
import msgspec

from acud.desktop.actions import ElementId, Place, Point

_NUMBER = re.compile(r"[+-]?\d{1,5}")
_LIMIT = 32767


def places(words: Sequence[str], most: int) -> list[Place]:
    """Return the places that `words` are, at most `most`. Raises: click.UsageError for anything else."""
    left = list(words)
    found: list[Place] = []
    while left and len(found) < most:
        found.append(_taken(left))
    if left:
        raise click.UsageError(f"{left[0]!r} is one too many")
    return found


def place(words: Sequence[str]) -> Place | None:
    """Return the one place, or None when none is given."""
    return next(iter(places(words, 1)), None)


def _taken(left: list[str]) -> Place:
    """Return the place that `left` begins with, and take it off."""
    element = _element(left[0])
    if element is not None:
        left.pop(0)
        return element
    if len(left) < 2:
        raise click.UsageError(f"a place is X and Y, or an id such as t3-12; only {left[0]!r} was given")
    return Point(_number(left.pop(0)), _number(left.pop(0)))


def _element(word: str) -> ElementId | None:
    try:
        return msgspec.convert(word.lower(), ElementId)
    except msgspec.ValidationError:
        return None


def _number(word: str) -> int:
    if not _NUMBER.fullmatch(word) or abs(int(word)) > _LIMIT:
        raise click.UsageError(f"{word!r} is neither a coordinate nor an id such as t3-12")
    return int(word)
