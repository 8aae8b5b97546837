"""Inputs that are nearly valid: one that is, changed in a few places."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from hypothesis import strategies as st

MAX_BYTES = 200_000
MOST_REPEATS = 5000
"""Beyond Python's limits for digits in a number (4300) and for nesting (1000)."""

_TELLING = (
    b"\x00", b"\xff", b"9", b"-", b"[", b"{", b'"', b"\n", b" ", b"1e999", b"NaN", b"\xc1", b"\x91", b"\x81\xa0",
)  # fmt: skip
_TELLING += ("²".encode(), "\u202e".encode(), b"\xed\xa0\x80", b"YES:", b"NO:", (2**64 - 1).to_bytes(8, "little"))


class Op(IntEnum):
    """What is done at one place."""

    FLIP = 0
    CUT = 1
    REPEAT = 2
    INSERT = 3
    REMOVE = 4
    TELLING = 5


class Change(NamedTuple):
    """One change: `at` is a share of the length in 1/65536, `size` what its kind makes of it."""

    op: Op
    at: int
    size: int
    given: bytes


CHANGES = st.builds(
    Change, st.sampled_from(Op), st.integers(0, 65535), st.integers(0, MOST_REPEATS), st.binary(max_size=16)
)


def changed(data: bytes, changes: Sequence[Change]) -> bytes:
    for change in changes:
        data = _one(data, change)[:MAX_BYTES]
    return data


def _one(data: bytes, change: Change) -> bytes:
    at = len(data) * change.at // 65536
    before, after = data[:at], data[at:]
    match change.op:
        case Op.FLIP:
            return before + bytes([after[0] ^ (1 << change.size % 8)]) + after[1:] if after else data
        case Op.CUT:
            return before
        case Op.REPEAT:
            return before + after[: 1 + len(change.given) // 4] * change.size + after
        case Op.INSERT:
            return before + change.given + after
        case Op.REMOVE:
            return before + after[1 + change.size % 16 :]
    return before + _TELLING[change.size % len(_TELLING)] + after


def inputs(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    near = st.builds(changed, st.sampled_from(list(seeds)), st.lists(CHANGES, max_size=6))
    return near | st.binary(max_size=400)
