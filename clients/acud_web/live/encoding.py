"""Parts of a picture as PNG or JPEG: what is flat or small exactly, what is busy and large roughly at first. Pure.

Measured on 1280x720: dense text takes 7 ms and 175 KB as PNG, 471 KB as JPEG; a photo 19 ms and 1.8 MB as PNG, 2 ms and
170 KB as JPEG. Pillow's PNG encoder tries all filters of each row: 14 and 92 ms for the same sizes.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt
import simplejpeg

Pixels = npt.NDArray[np.uint8]
"""Height x width x 4 uint8 BGRX, C-contiguous; the fourth byte is undefined."""

_SMALL_PX = 64 * 64
_BUSY = 0.5
"""Share of pixels that differ from their left neighbour, above which a part is busy: dense text has 0.33, a photo 1."""
_QUALITY = 75
_MJPEG_QUALITY = 80
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_NONE, _SUB = 0, 1


def is_busy(pixels: Pixels) -> bool:
    """Tell whether `pixels` are large, and more like a photo than like a user interface."""
    height, width = pixels.shape[:2]
    if height * width <= _SMALL_PX:
        return False
    rows = pixels.view(np.uint32)[::4, :, 0] & 0x00FFFFFF
    return float(np.mean(rows[:, 1:] != rows[:, :-1])) > _BUSY


def jpeg(pixels: Pixels, quality: int = _QUALITY) -> bytes:
    """Return `pixels` as JPEG 4:2:0."""
    return bytes(simplejpeg.encode_jpeg(pixels, quality=quality, colorspace="BGRX", colorsubsampling="420"))


def whole_jpeg(pixels: Pixels) -> bytes:
    """Return a picture of a stream of pictures."""
    return jpeg(pixels, _MJPEG_QUALITY)


def png(pixels: Pixels) -> bytes:
    """Return `pixels` as PNG, exactly (8 bits a channel, RGB; PNG 1.2).

    What is busy is filtered against the left neighbour, and matched over runs alone: twice as fast, and smaller.
    """
    height, width = pixels.shape[:2]
    busy = is_busy(pixels)
    strategy = zlib.Z_RLE if busy else zlib.Z_DEFAULT_STRATEGY
    packer = zlib.compressobj(1, zlib.DEFLATED, 15, 8, strategy)
    packed = packer.compress(_rows(pixels, busy)) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", packed) + _chunk(b"IEND", b"")


def _rows(pixels: Pixels, busy: bool) -> bytes:
    height, width = pixels.shape[:2]
    rgb = np.ascontiguousarray(pixels[..., 2::-1]).reshape(height, width * 3)
    rows = np.empty((height, 1 + width * 3), np.uint8)
    rows[:, 0] = _SUB if busy else _NONE
    rows[:, 1:4] = rgb[:, :3]
    if busy:
        np.subtract(rgb[:, 3:], rgb[:, :-3], out=rows[:, 4:])
    else:
        rows[:, 4:] = rgb[:, 3:]
    return rows.tobytes()


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
