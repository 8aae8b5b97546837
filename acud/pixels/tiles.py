"""Which 16x16 tiles differ between two frames, exactly (no pixel is sampled, no threshold); and a view's identity.

Frames are height x width x 4 uint8 BGRX, C-contiguous. The fourth byte is undefined (a server returns 00 and ff for the
same RGB) and masked. Tiles at the right and bottom edge are partial.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from acud.types import TILE_PX, Rect

Pixels = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
"""rows x columns of tiles; True: the tile changed."""

_STRIP_ROWS = 4  # rows of tiles compared in one go: their scratch fits a second-level cache (`scripts/bench capture`)
_COLOUR = np.uint32(0x00FFFFFF)
_MASKED_ROWS = 64  # rows masked at a time: the scratch stays in a second-level cache


class TileCompare:
    """Compares frames of one geometry, with scratch memory of its own; not for several threads at once."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.columns, self.rows = -(-width // TILE_PX), -(-height // TILE_PX)
        # Two pixels a word where rows allow it; the colour bytes of each pixel are its three lowest.
        self._word: Any = np.uint64 if width % 2 == 0 else np.uint32
        self._pixels_per_word = 2 if width % 2 == 0 else 1
        self._colour = self._word(0x00FFFFFF_00FFFFFF if width % 2 == 0 else 0x00FFFFFF)
        words = width // self._pixels_per_word
        self._differs = np.empty((_STRIP_ROWS * TILE_PX, words), self._word)
        words_per_tile = TILE_PX // self._pixels_per_word
        self._folded = np.zeros((self.rows, self.columns * words_per_tile), self._word)

    def find_changes(self, old: Pixels, new: Pixels, box: Rect | None = None) -> Mask:
        """Return the tiles in which `new` differs from `old`, looking only at those that `box` touches (None: all).
        About 0.25 ms for a whole 1280x720 frame, changed or not, and in proportion for a box.
        """
        mask = np.zeros((self.rows, self.columns), np.bool_)
        span = self._find_span(box)
        if span is not None:
            top, bottom, left, right = span
            mask[top:bottom, left:right] = self._compare_tiles(self._as_words(old), self._as_words(new), span)
        return mask

    def everything(self) -> Mask:
        """Return the mask with every tile changed, for a frame without an earlier frame."""
        return np.ones((self.rows, self.columns), np.bool_)

    def bounds(self, mask: Mask) -> Rect | None:
        """Return the box in pixels around the tiles set in `mask`; None when none is."""
        # Plain bytes: a frame comes after a rest, and each numpy call then costs 20 µs instead of two.
        flat, columns = mask.tobytes(), self.columns
        first, last = flat.find(1), flat.rfind(1)
        if first < 0:
            return None
        top, bottom = first // columns, last // columns + 1
        rows = [row for at in range(top, bottom) if 1 in (row := flat[at * columns : (at + 1) * columns])]
        left, right = min(row.find(1) for row in rows), max(row.rfind(1) for row in rows) + 1
        x, y = left * TILE_PX, top * TILE_PX
        return Rect(x, y, min(right * TILE_PX, self.width) - x, min(bottom * TILE_PX, self.height) - y)

    def _find_span(self, box: Rect | None) -> tuple[int, int, int, int] | None:
        """Return (top, bottom, left, right) of the tiles that `box` touches."""
        if box is None:
            return 0, self.rows, 0, self.columns
        x, y = max(0, box.x), max(0, box.y)
        right, bottom = min(self.width, box.right), min(self.height, box.bottom)
        if x >= right or y >= bottom:
            return None
        return y // TILE_PX, -(-bottom // TILE_PX), x // TILE_PX, -(-right // TILE_PX)

    def _as_words(self, frame: Pixels) -> npt.NDArray[Any]:
        return np.ndarray((self.height, self.width // self._pixels_per_word), self._word, frame)

    def _compare_tiles(self, old: npt.NDArray[Any], new: npt.NDArray[Any], span: tuple[int, int, int, int]) -> Mask:
        top, bottom, left, right = span
        per_tile = TILE_PX // self._pixels_per_word
        columns = slice(left * per_tile, min(right * per_tile, old.shape[1]))
        for row in range(top, bottom, _STRIP_ROWS):
            self._fold_rows(old, new, row, min(row + _STRIP_ROWS, bottom), columns)
        folded = self._folded[top:bottom, left * per_tile : right * per_tile]
        by_tile = np.bitwise_or.reduce(folded.reshape(bottom - top, right - left, per_tile), axis=2)
        changed: Mask = (by_tile & self._colour) != 0
        return changed

    def _fold_rows(self, old: npt.NDArray[Any], new: npt.NDArray[Any], row: int, end: int, columns: slice) -> None:
        """Combine by OR, per row of tiles and per word column, what differs. Words past the frame's edge stay zero."""
        y, y_end = row * TILE_PX, min(end * TILE_PX, self.height)
        out = self._differs[: y_end - y, columns]
        np.bitwise_xor(old[y:y_end, columns], new[y:y_end, columns], out=out)
        whole = len(out) // TILE_PX
        stacked = out[: whole * TILE_PX].reshape(whole, TILE_PX, out.shape[1])
        np.bitwise_or.reduce(stacked, axis=1, out=self._folded[row : row + whole, columns])
        if whole < end - row:
            np.bitwise_or.reduce(out[whole * TILE_PX :], axis=0, out=self._folded[end - 1, columns])


def bitmap(mask: Mask) -> bytes:
    """Return `mask` as little-endian bytes, bit `row * columns + column`."""
    return np.packbits(mask.ravel(), bitorder="little").tobytes()


def tile_looks(pixels: Pixels, mask: Mask) -> bytes:
    """Return 8 bytes (little-endian, never 0) for each tile set in `mask`, in order; equal bytes mean equal colours.
    `pixels`: height x width x 4 uint8 BGRX. About 5 µs a tile.
    """
    looks = bytearray()
    for row, column in np.argwhere(mask):
        tile = pixels[row * TILE_PX : (row + 1) * TILE_PX, column * TILE_PX : (column + 1) * TILE_PX, :3]
        looks += (xxhash.xxh3_64_intdigest(tile.tobytes()) or 1).to_bytes(8, "little")
    return bytes(looks)


def identity(pixels: Pixels, ignore: Iterable[Rect] = ()) -> str:
    """Return the identity of `pixels` (height x width x 4 uint8 BGRX, any strides) as 16 hexadecimal digits. `ignore`
    boxes are in the view's own pixels. Reads only; about 0.5 ms for 1280x720.
    """
    height, width = pixels.shape[:2]
    boxes = [box for box in ignore if box.intersect(Rect(0, 0, width, height))]
    words = np.ascontiguousarray(pixels).view(np.uint32).reshape(height, width)
    scratch = np.empty((_MASKED_ROWS, width), np.uint32)
    digest = xxhash.xxh3_64(struct.pack("<II", width, height))
    for top in range(0, height, _MASKED_ROWS):
        strip = scratch[: min(_MASKED_ROWS, height - top)]
        np.bitwise_and(words[top : top + len(strip)], _COLOUR, out=strip)
        _blacken_boxes(strip, top, boxes)
        digest.update(strip.data)
    return digest.hexdigest()


def blackout(pixels: Pixels, boxes: Iterable[Rect]) -> Pixels:
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


def _blacken_boxes(strip: npt.NDArray[np.uint32], top: int, boxes: list[Rect]) -> None:
    for box in boxes:
        strip[max(0, box.y - top) : max(0, box.bottom - top), max(0, box.x) : max(0, box.right)] = 0
