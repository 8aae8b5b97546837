"""Ids of what scenes show, as people and models write them.

    t3-12   the text with number 12 on display 3
    a3-4    a widget
    v3-1    something that a vision model named

An id is the store's number of its display and a number that is never given again, so it can never mean another thing.
"""

from __future__ import annotations

import re

from msgspec import Struct

_ID = re.compile(
    r"(?:the\s+)?(?:element\s+|mark\s+)?(?P<open>[\[(#]?)(?P<id>[tav](?P<display>[1-9]\d{0,8})-[1-9]\d{0,8})[\])]?\.?",
    re.IGNORECASE | re.ASCII,
)


class ElementHandle(Struct, frozen=True):
    """An id, and the number of the display in it."""

    id: str
    display_id: int


def handle_of(words: str) -> ElementHandle | None:
    """Return the handle that `words` are ("t3-12", "element a3-4", "[v3-1]"); None for any other description."""
    found = _ID.fullmatch(words.strip())
    return ElementHandle(found["id"].lower(), int(found["display"])) if found is not None else None
