"""What travels over a live WebSocket, both ways: docs/web.md names every field."""

from __future__ import annotations

import struct
import time
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from acud.base.typed_values import json_decoder

MAX_MESSAGE_BYTES = 4096
"""Largest message that a viewer may send."""


class Block(Struct, frozen=True):
    """A part of the picture, in the viewer's pixels; `size` bytes of it follow the head, in order."""

    x: int
    y: int
    w: int
    h: int
    format: Literal["png", "jpeg"]
    size: int


class Head(Struct, frozen=True, tag="frame"):
    """One step of the picture: `key` replaces the whole of it. Times are UTC in ms; `cursor` in the viewer's pixels."""

    frame: int
    epoch: int
    key: bool
    width: int
    height: int
    captured_ms: float
    sent_ms: float
    cursor: tuple[int, int]
    blocks: tuple[Block, ...]


class Alive(Struct, frozen=True, tag="alive"):
    """The viewer's picture, `frame`, was what the display showed at `checked_ms` (UTC)."""

    frame: int
    checked_ms: float


class Lost(Struct, frozen=True, tag="lost"):
    """The display has no pixels now; the last picture is not to be taken for the present."""

    code: str
    reason: str


class Bye(Struct, frozen=True, tag="bye"):
    """Nothing follows but the end."""

    code: str
    reason: str


class Ack(Struct, frozen=True, tag="ack"):
    """The viewer has painted `frame`: the next may come."""

    frame: int


class Want(Struct, frozen=True, tag="want"):
    """How fast, and how large (the longer side; 0: exact pixels)."""

    fps: Annotated[float, Meta(ge=1, le=30)] = 10.0
    max_side_px: Annotated[int, Meta(ge=0, le=4096)] = 0

    def __post_init__(self) -> None:
        if 0 < self.max_side_px < 64:
            raise ValueError("max_side_px is 0 or 64 to 4096")


_SAID = json_decoder(Ack | Want)


def parse_viewer_message(text: str) -> Ack | Want:
    """Return a viewer's message. Raises: msgspec.MsgspecError when it is neither."""
    said: Ack | Want = _SAID.decode(text)
    return said


def encode_message(message: Alive | Lost | Bye) -> str:
    return msgspec.json.encode(message).decode()


def frame_head(head: Head, blocks: list[bytes]) -> bytes:
    """Return the bytes of a frame: the head's length (u32, little-endian), the head in JSON, the blocks."""
    told = msgspec.json.encode(head)
    return b"".join((struct.pack("<I", len(told)), told, *blocks))


def utc_ms(mono_ns: int) -> float:
    """Return the wall clock, in ms, of a moment of CLOCK_MONOTONIC that was not long ago."""
    return (time.time_ns() - (time.monotonic_ns() - mono_ns)) / 1e6
