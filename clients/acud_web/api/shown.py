"""The frames of a segment, from the lines that its recorder wrote beside the video."""

from __future__ import annotations

import os

import msgspec
from msgspec import Struct

_LONGEST_LINE = 1 << 20


class FrameAt(Struct, frozen=True):
    """Where a frame is in the video (`at_ms`), when it was taken (`utc_ms`), and its number in its `epoch`."""

    at_ms: float
    utc_ms: int
    frame: int
    epoch: int


class FramesPage(Struct, frozen=True):
    """Frames in the order of their times. `more`: there are later ones; ask from after the last."""

    frames: tuple[FrameAt, ...]
    more: bool


_ROW = msgspec.json.Decoder(FrameAt)


def read_page(descriptor: int, from_ms: float, limit: int) -> FramesPage:
    """Return the first `limit` frames from `from_ms` on. Closes `descriptor`. Blocks."""
    found: list[FrameAt] = []
    with os.fdopen(descriptor, "rb") as lines:
        lines.readline(_LONGEST_LINE)  # the head
        while len(found) <= limit and (line := lines.readline(_LONGEST_LINE)).endswith(b"\n"):
            row = _ROW.decode(line)
            if row.at_ms >= from_ms:
                found.append(row)
    return FramesPage(tuple(found[:limit]), len(found) > limit)
