"""Frames as a segment needs them: the changes since the frame before, in the colours of the video, and an identity.

Unchanged parts are not read again. A frame in a ring may be overwritten while it is read: `FrameCopier.copy_view`
checks afterwards.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import xxhash
from av.video.reformatter import Colorspace, VideoReformatter
from msgspec import Struct

from acud.frames.reader import FrameView
from acud.pixels.tiles import TileCompare
from acud.types import TILE_PX

Pixels = npt.NDArray[np.uint8]

PIXEL_FORMAT = "yuv420p"
_COLOUR = np.uint32(0x00FFFFFF)
"""The fourth byte of a pixel is undefined."""
_EDGE_PX = 2
"""The rows beside a pixel that its colour in the video depends on: the converter mixes them."""


class Band(Struct, frozen=True):
    """Rows `top` to `bottom` (exclusive), both even, of a frame of the video; `planes`: their luma and chroma."""

    top: int
    bottom: int
    planes: tuple[Pixels, ...]


class CopiedFrame(Struct, frozen=True):
    """A frame as a segment needs it. `changed`: per tile, row by row. `bands`: the rows that changed since the frame
    before. `identity`: of all its pixels.
    """

    frame: int
    epoch: int
    mono_ns: int
    width: int
    height: int
    changed: npt.NDArray[np.bool_]
    bands: tuple[Band, ...]
    identity: str


class FrameCopier:
    """Copies frames of one size, in the order in which they were captured. Not for several threads.

    The first frame must have changed everywhere; every other one wherever it differs from the last that was kept. A
    frame that was overwritten, or is not kept, does no harm: its changes are read again with the next.
    """

    def __init__(self, width: int, height: int) -> None:
        self._size = (width, height)
        self._reformatter = VideoReformatter()
        self._digests = np.zeros(-(-height // TILE_PX), np.uint64)

    def copy_view(self, view: FrameView, since: int) -> CopiedFrame:
        """Return the frame in `view` with the changes in frame `since` or later (0: everything).

        Raises: FrameGone when it was overwritten meanwhile.
        """
        changed = view.tile_changes >= since
        frame = self.copy(view.frame, view.epoch, view.mono_ns, view.pixels, changed)
        view.check()
        return frame

    def copy(self, frame: int, epoch: int, mono_ns: int, pixels: Pixels, changed: npt.NDArray[np.bool_]) -> CopiedFrame:
        """Return a frame of `pixels` (height x width x 4 uint8 BGRX, C-contiguous), which it does not keep, with the
        rows of tiles that `changed`. About 0.15 ms of CPU for a line of text in 1280x720, 2 ms for everything.
        """
        rows: list[int] = np.flatnonzero(changed.reshape(len(self._digests), -1).any(axis=1)).tolist()
        # XXH3 of the size and of XXH3 of each row of tiles; only `rows` are computed anew.
        for row in rows:
            colours = pixels[row * TILE_PX : (row + 1) * TILE_PX].view(np.uint32) & _COLOUR
            self._digests[row] = xxhash.xxh3_64_intdigest(colours.data)
        identity = xxhash.xxh3_64_hexdigest(struct.pack("<II", *self._size) + self._digests.tobytes())
        bands = tuple(self._make_band(pixels, first, last) for first, last in _group_rows(rows))
        return CopiedFrame(frame, epoch, mono_ns, *self._size, changed, bands, identity)

    def _make_band(self, pixels: Pixels, first: int, last: int) -> Band:
        """Return the band of the rows of tiles `first` to `last`: the colour of the rows beside them changes as well,
        and depends on the rows beside those.
        """
        height = self._size[1]
        top = max(0, first * TILE_PX - _EDGE_PX)
        bottom = min(height + height % 2, (last + 1) * TILE_PX + _EDGE_PX)
        begin = max(0, top - _EDGE_PX)
        part: Any = av.VideoFrame.from_numpy_buffer(_make_even(pixels[begin : bottom + _EDGE_PX]), format="bgra")
        # Bands differ in height: with threads, each new height starts some (0.5 ms).
        part = self._reformatter.reformat(part, format=PIXEL_FORMAT, dst_colorspace=Colorspace.ITU709, threads=1)
        cut = slice(top - begin, bottom - begin)
        return Band(
            top,
            bottom,
            tuple(
                plane[cut.start // step : cut.stop // step]
                for plane, step in zip(frame_planes(part), PLANE_STEPS, strict=True)
            ),
        )


class TileChanges:
    """The tiles of frames that differ from the frame kept before, where the ring does not have them: a black box of
    redaction moves where no pixel did, and a part of a display has tiles of its own.
    """

    def __init__(self, width: int, height: int) -> None:
        self._compare = TileCompare(width, height)
        self._kept: Pixels | None = None

    def find_changed(self, pixels: Pixels) -> npt.NDArray[np.bool_]:
        """Return per tile, row by row, whether it differs."""
        kept = self._kept
        found = self._compare.everything() if kept is None else self._compare.find_changes(kept, pixels)
        return found.reshape(-1)

    def keep_frame(self, pixels: Pixels) -> None:
        self._kept = pixels

    def begin_anew(self) -> None:
        """Begin anew: the next frame is the first of a segment."""
        self._kept = None


PLANE_STEPS = (1, 2, 2)
"""Rows (and columns) of the frame for each one of a plane."""


def frame_planes(frame: Any) -> list[Pixels]:
    """Return the planes of a frame of the video, as views."""
    return [
        np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)[:, : plane.width]
        for plane in frame.planes
    ]


def _group_rows(rows: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each run of numbers without a gap."""
    for _, run in itertools.groupby(enumerate(rows), lambda pair: pair[1] - pair[0]):
        numbers = [row for _, row in run]
        yield numbers[0], numbers[-1]


def _make_even(pixels: Pixels) -> Pixels:
    """Repeat an odd last column or row: H.264 with 4:2:0 needs even sides."""
    height, width = pixels.shape[:2]
    if height % 2 == width % 2 == 0:
        return pixels
    return np.pad(pixels, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
