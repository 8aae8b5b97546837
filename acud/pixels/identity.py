"""The identity of a view: equal exactly when its masked pixels and its size are (but for a 64-bit hash collision).

XXH3-64 over width and height (two little-endian 32-bit words), then the rows as BGRX with the fourth byte 0 and the
ignored boxes black. Source of the hash: https://github.com/Cyan4973/xxHash.

Here too: a copy of a picture with black boxes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np
import xxhash
from numpy.typing import NDArray

from acud.types import Rect

_COLOUR = np.uint32(0x00FFFFFF)

_STRIP_ROWS = 64
"""Rows masked at a time: the scratch stays in a second-level cache."""


def identity(pixels: NDArray[np.uint8], ignore: Iterable[Rect] = ()) -> str:
    """Return the identity of `pixels` (height x width x 4 uint8 BGRX, any strides) as 16 hexadecimal digits.

    `ignore` boxes are in the view's own pixels. Reads only; about 0.5 ms for 1280x720.
    """
    height, width = pixels.shape[:2]
    boxes = [box for box in ignore if box.intersect(Rect(0, 0, width, height))]
    words = np.ascontiguousarray(pixels).view(np.uint32).reshape(height, width)
    scratch = np.empty((_STRIP_ROWS, width), np.uint32)
    digest = xxhash.xxh3_64(struct.pack("<II", width, height))
    for top in range(0, height, _STRIP_ROWS):
        strip = scratch[: min(_STRIP_ROWS, height - top)]
        np.bitwise_and(words[top : top + len(strip)], _COLOUR, out=strip)
        _blacken(strip, top, boxes)
        digest.update(strip.data)
    return digest.hexdigest()


def blackout(pixels: NDArray[np.uint8], boxes: Iterable[Rect]) -> NDArray[np.uint8]:
    """Return a C-contiguous copy of `pixels` (height x width x 4 uint8 BGRX) with `boxes` black; they may overhang.

    `pixels` is never written to. About 0.3 ms for 1280x720.
    """
    black = np.array(pixels, order="C", copy=True)
    bounds = Rect(0, 0, pixels.shape[1], pixels.shape[0])
    for box in boxes:
        inside = box.intersect(bounds)
        if inside is not None:
            black[inside.y : inside.bottom, inside.x : inside.right] = 0
    return black


def _blacken(strip: NDArray[np.uint32], top: int, boxes: list[Rect]) -> None:
    for box in boxes:
        strip[max(0, box.y - top) : max(0, box.bottom - top), max(0, box.x) : max(0, box.right)] = 0
