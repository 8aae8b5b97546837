"""Reading frames of a ring: mapped, and sequence-checked before they count.

A frame may be overwritten while it is read; `FrameView.check` afterwards detects that. Discard all results of a view
whose check raises.
"""

from __future__ import annotations

from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from acud.base.errors import InvalidRequest
from acud.frames.layout import BYTES_PER_PIXEL
from acud.frames.ring import FrameGone, Ring, Slot
from acud.types import Rect

__all__ = ["FrameGone", "FrameView", "RingReader"]

Pixels = npt.NDArray[np.uint8]


class FrameView:
    """One frame in the ring. A context manager; leaving it drops the view's hold on the mapping.

    `pixels`: height x width x 4 uint8 BGRX (the fourth byte is undefined), C-contiguous, read-only, not copied, valid
    until the slot is overwritten. `mono_ns`: CLOCK_MONOTONIC at the start of the grab. `box`: around the changes since
    the frame before. `cursor`: the pointer's (x, y, shape serial); it is never drawn in the pixels.
    """

    def __init__(self, ring: Ring, slot: Slot) -> None:
        self._ring, self._slot = ring, slot
        self.epoch = ring.epoch
        self.frame = slot.frame
        self.mono_ns = slot.mono_ns
        self.box = slot.box
        self.cursor = slot.cursor
        shape = (ring.layout.height, ring.layout.width, BYTES_PER_PIXEL)
        self.pixels: Pixels = np.frombuffer(ring.pixels(slot.index), np.uint8).reshape(shape)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        del self.pixels

    def check(self) -> None:
        """Confirm that all data read from this view was this frame. Raises: FrameGone when it was overwritten."""
        if not self._ring.holds(self._slot):
            raise FrameGone(f"frame {self.frame} was overwritten")

    def copy(self, crop: Rect | None = None) -> Pixels:
        """Return the frame, or the part `crop` of it, as a new C-contiguous array, checked. Raises: FrameGone when the
        frame was overwritten; InvalidRequest when `crop` is not inside the frame.
        """
        part = self.pixels if crop is None else self._cut_crop(crop)
        kept = np.array(part, order="C", copy=True)
        self.check()
        return kept

    def _cut_crop(self, crop: Rect) -> Pixels:
        height, width = self.pixels.shape[:2]
        if crop.w < 1 or crop.h < 1 or not Rect(0, 0, width, height).contains(crop):
            raise InvalidRequest(f"the crop {crop} is not inside the {width}x{height} frame")
        return self.pixels[crop.y : crop.bottom, crop.x : crop.right]

    @property
    def tile_changes(self) -> npt.NDArray[np.uint64]:
        """Per tile, row by row, the number of the frame that last changed it; a checked copy. Raises: FrameGone."""
        return np.frombuffer(self._ring.tile_changes(self._slot), np.uint64)


class RingReader:
    """Reads the ring at `path`. A context manager; closing twice is harmless.

    Raises: FrameGone when there is no such file; ProtocolError when it is no ring, or a damaged one.
    """

    def __init__(self, path: str | Path) -> None:
        self._ring = Ring.open(path)
        self.epoch = self._ring.epoch
        self.width = self._ring.layout.width
        self.height = self._ring.layout.height

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the ring; arrays from its views keep their memory."""
        self._ring.close()

    def newest(self, min_frame: int = 0, max_frame: int | None = None) -> FrameView:
        """Return the newest frame (up to `max_frame`). Raises: FrameGone when there is none from `min_frame` on."""
        slot = self._ring.newest(min_frame, max_frame)
        if slot is None:
            raise FrameGone(f"no frame from {min_frame} on is in the ring", min_frame=min_frame)
        return FrameView(self._ring, slot)
