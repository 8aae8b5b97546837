"""Ids unique over hosts: a short noun, then 48 bits of UTC milliseconds and 64 random bits in Crockford's base 32.

Source of the alphabet: https://www.crockford.com/base32.html. Ids of one noun sort by time of making; a wait's wake has
the wait's own (`same_id`).
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PATTERN = re.compile(r"^[a-z]{1,12}-[0-9a-hjkmnp-tv-z]{23}$")


_SHOWN = 6  # characters of an id's ending that are displayed: 30 random bits, so that hundreds of ids differ in them
FEWEST_OF_ENDING = 4
"""The fewest characters of an id's ending that identify it: fewer are more likely a slip than an id."""


def new_id(noun: str) -> str:
    """Return a fresh id such as `wait-01jd…`; `noun` is lower-case ASCII."""
    value = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 64 | secrets.randbits(64)
    return f"{noun}-{_encode_base32(value)}"


def _encode_base32(value: int) -> str:
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(110, -1, -5))


def same_id(noun: str, other: str) -> str:
    """Return the id of `noun` that belongs to the one thing `other`: the same for every caller."""
    return f"{noun}-{other.partition('-')[2]}"


def id_made_of(noun: str, words: str) -> str:
    """Return the id of `noun` that follows from `words`: the same for every caller."""
    value = int.from_bytes(hashlib.sha256(words.encode()).digest()[:14], "big")
    return f"{noun}-{_encode_base32(value)}"


def short_id(whole: str) -> str:
    """Return the ending of an id, which the daemon accepts too; other texts stay whole."""
    return whole[-_SHOWN:] if _PATTERN.match(whole) else whole


def is_id(text: str, noun: str) -> bool:
    """Return whether `text` is an id of `noun`; only such texts may ever become part of a file name."""
    return bool(_PATTERN.match(text)) and text.startswith(f"{noun}-")
