"""Pixels as PNG, exactly (8 bits a channel, RGB; PNG 1.2): rows by numpy, deflate by Intel's igzip.

For 1280x720 of text that takes a twelfth of Pillow's encoder at level 1, for a file of the same size
(`scripts/bench picture`).
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt
from isal import isal_zlib

_LEVEL = 1
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_NONE, _SUB = 0, 1
"""The filter of a row: none; against its left neighbour."""
_SMALL_PX = 64 * 64
_BUSY = 0.5
"""Share of pixels that differ from their left neighbour, above which a part is busy: dense text has 0.33, a photo 1."""


def encode(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return `pixels` (height x width x 4 uint8 BGRX, C-contiguous or a view of such; not written to) as RGB PNG. The
    fourth byte has no influence. Blocks for some 2 ms for 1280x720; the GIL is free for most of that.
    """
    height, width = pixels.shape[:2]
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packed = isal_zlib.compress(_filter_rows(pixels), _LEVEL)
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", packed) + _chunk(b"IEND", b"")


def is_busy(pixels: npt.NDArray[np.uint8], every: int = 4) -> bool:
    """Return whether `pixels` (as above) are large, and more like a photo than like a user interface. Only every
    `every`th row counts.
    """
    height, width = pixels.shape[:2]
    if height * width <= _SMALL_PX:
        return False
    rows = pixels.view(np.uint32)[::every, :, 0] & 0x00FFFFFF
    return float(np.mean(rows[:, 1:] != rows[:, :-1])) > _BUSY


def _filter_rows(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the rows of the file: their filter, then red, green and blue of each pixel. Three copies of every third
    byte are seven times as fast as one of the reversed channels.
    """
    height, width = pixels.shape[:2]
    rows = np.empty((height, 1 + width * 3), np.uint8)
    rows[:, 0] = _NONE
    for channel in range(3):
        rows[:, 1 + channel :: 3] = pixels[:, :, 2 - channel]
    if is_busy(pixels, 16):
        rows[:, 0] = _SUB
        rows[:, 4:] -= rows[:, 1:-3].copy()
    return rows


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", isal_zlib.crc32(data, isal_zlib.crc32(kind)))
