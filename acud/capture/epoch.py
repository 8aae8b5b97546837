"""One epoch of a source: the ring written to, and what its next frame is compared with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from acud.errors import ProtocolError
from acud.frames.ring import FrameGone, Ring
from acud.frames.writer import FrameWriter
from acud.log import logger
from acud.pixels.tiles import Mask, TileCompare
from acud.protocol.capture import Attach
from acud.types import Rect

Pixels = npt.NDArray[np.uint8]


class Before(Struct, frozen=True):
    """The last frame of the ring before this one: copies of its pixels and of its tiles' change numbers."""

    pixels: Pixels
    changes: npt.NDArray[np.uint64]


class Epoch:
    """Owns `ring` and its writer; closing twice is harmless. `newest`: the frame last published, None before any."""

    def __init__(self, order: Attach, ring: Ring) -> None:
        layout = ring.layout
        self.number = order.epoch
        self.ring = ring
        self.writer = FrameWriter(ring)
        self.newest: int | None = None
        self._next_frame = order.first_frame
        self._before = _last_frame(order, ring)
        self._compare = TileCompare(layout.width, layout.height)
        self._changes = self._before.changes if self._before else np.zeros(layout.tiles, np.uint64)

    @property
    def is_fresh(self) -> bool:
        """Whether there is nothing to compare the next frame with."""
        return self._base() is None

    def _base(self) -> Pixels | None:
        if self.writer.newest is not None:
            return self.writer.arrays[self.writer.newest]
        return self._before.pixels if self._before else None

    def difference(self, slot: int, box: Rect | None) -> Mask:
        """Return which tiles of the frame in `slot` are new, looked for in `box` (None: everywhere)."""
        base = self._base()
        if base is None:
            return self._compare.everything()
        return self._compare.changed(base, self.writer.arrays[slot], None if self.newest is None else box)

    def differs(self, slot: int, box: Rect) -> bool:
        """Tell whether a pixel of `box` in the frame in `slot` is new."""
        base = self._base()
        if base is None:
            return True
        place = slice(max(0, box.y), box.bottom), slice(max(0, box.x), box.right), slice(0, 3)
        return not np.array_equal(base[place], self.writer.arrays[slot][place])

    def bounds(self, mask: Mask) -> Rect | None:
        """Return the box around the tiles in `mask`; None when nothing changed."""
        return self._compare.bounds(mask)

    def publish(self, slot: int, mono_ns: int, mask: Mask, box: Rect | None, cursor: tuple[int, int, int]) -> int:
        """Make the frame in `slot` the newest; return its number. `mask`, `box`: what changed."""
        frame, self._next_frame = self._next_frame, self._next_frame + 1
        if box is not None:
            self._changes[mask.ravel()] = frame
        self.writer.publish(slot, frame, mono_ns, box, self._changes, cursor)
        self.newest, self._before = frame, None
        return frame

    def close(self) -> None:
        """Let go of the ring."""
        self.writer.close()
        self.ring.close()


def _last_frame(order: Attach, ring: Ring) -> Before | None:
    """Return the newest frame of the ring before this one, when there is one of the same geometry as `ring`."""
    if not order.previous:
        return None
    try:
        with Ring.open(order.previous) as old:
            return _copied(old, order.first_frame) if old.layout.same_frames(ring.layout) else None
    except (FrameGone, ProtocolError) as fault:
        logger("capture").warning("previous.unreadable", fault=fault.message)
        return None


def _copied(old: Ring, first_frame: int) -> Before | None:
    slot = old.newest()  # its writer is dead or has let go of it: nothing overwrites it now
    if slot is None:
        return None
    if slot.frame >= first_frame:  # the supervisor never heard of it, nor of what changed in it
        logger("capture").warning("previous.ahead", frame=slot.frame, first_frame=first_frame)
        return None
    layout = old.layout
    pixels = np.frombuffer(bytes(old.pixels(slot.index)), np.uint8).reshape(layout.height, layout.width, 4)
    return Before(pixels, np.array(old.tile_changes(slot), np.uint64))
