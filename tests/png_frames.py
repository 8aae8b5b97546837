"""PNG pictures that come from outside, read strictly: what is not a plain screenshot of a sane size is no picture.

Accepted is what screenshot programs write: 8 bits a channel, RGB or RGBA, not interlaced. The size is judged before a
single byte is inflated.
"""

from __future__ import annotations

import struct
import zlib
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

MAX_PIXELS = 7680 * 4320
"""An 8K screen."""

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEAD = struct.Struct(">I4sIIBBBBB")
"""The first chunk: length, name, width, height, depth, colour, compression, filter, interlace (PNG 1.2, 4.1.1)."""


def png_size(data: bytes) -> tuple[int, int] | None:
    """Return (width, height) of a PNG of the accepted form, from its head alone; None for anything else."""
    if not data.startswith(_SIGNATURE) or len(data) < len(_SIGNATURE) + _HEAD.size:
        return None
    length, name, width, height, depth, colour, compression, filtering, interlace = _HEAD.unpack_from(data, 8)
    if (length, name, depth, compression, filtering, interlace) != (13, b"IHDR", 8, 0, 0, 0) or colour not in (2, 6):
        return None
    return (width, height) if 0 < width * height <= MAX_PIXELS else None


def frame_of_png(data: bytes) -> NDArray[np.uint8] | None:
    """Return the pixels of a PNG as height x width x 4 uint8 BGRX; None for one of another form, or a damaged one."""
    if png_size(data) is None:
        return None
    try:
        with Image.open(BytesIO(data), formats=("PNG",)) as image:
            rgb = np.asarray(image.convert("RGB"))
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, zlib.error):
        return None
    pixels = np.zeros((*rgb.shape[:2], 4), np.uint8)
    pixels[:, :, :3] = rgb[:, :, ::-1]
    return pixels
