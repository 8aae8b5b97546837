"""The one writer of a ring: begins a slot, and publishes it or gives it up."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from acud.frames import layout as place
from acud.frames.ring import Ring
from acud.types import Rect

Pixels = npt.NDArray[np.uint8]
TileChanges = npt.NDArray[np.uint64]

NO_CURSOR = (-1, -1, 0)
_WORD_MASK = (1 << 64) - 1


class FrameWriter:
    """Writes frames into `ring` (opened writable, owned by the caller), oldest slot first.

    `arrays[k]` are the pixels of slot k: height x width x 4 uint8 BGRX, C-contiguous, mapped and writable.
    `newest`: the slot last published, or None.
    """

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.newest: int | None = None
        layout = ring.layout
        self._words = ring.words
        self._starts = [layout.slot_word(k) for k in range(layout.slots)]
        shape = (layout.height, layout.width, place.BYTES_PER_PIXEL)
        self.arrays: list[Pixels] = [
            np.frombuffer(ring.pixels(k), np.uint8).reshape(shape) for k in range(layout.slots)
        ]
        self._changes = [_view_tiles(ring, start) for start in self._starts]

    def begin(self) -> int:
        """Take the oldest slot for writing (its frame is gone for readers from now on) and return its number. A slot
        begun and not published is taken again.
        """
        slot = 0 if self.newest is None else (self.newest + 1) % self.ring.layout.slots
        start = self._starts[slot]
        # Odd either way: 0 and even become odd, a slot given up stays odd with a new number.
        self._words[start] += 1 if self._words[start] % 2 == 0 else 2
        return slot

    def publish(
        self,
        slot: int,
        frame: int,
        mono_ns: int,
        box: Rect | None,
        changes: TileChanges,
        cursor: tuple[int, int, int] = NO_CURSOR,
    ) -> None:
        """Make the begun `slot` valid. `changes`: per tile the frame that last changed it; `box`: around the changes.
        The sequence is the last store, so a writer killed anywhere in here leaves the slot invalid.
        """
        words, start = self._words, self._starts[slot]
        words[start + place.S_FRAME] = frame
        words[start + place.S_MONO_NS] = mono_ns
        x, y, w, h = (box.x, box.y, box.w, box.h) if box else (0, 0, 0, 0)
        words[start + place.S_BOX_X], words[start + place.S_BOX_Y] = x, y
        words[start + place.S_BOX_W], words[start + place.S_BOX_H] = w, h
        words[start + place.S_CURSOR_X] = cursor[0] & _WORD_MASK
        words[start + place.S_CURSOR_Y] = cursor[1] & _WORD_MASK
        words[start + place.S_CURSOR_SERIAL] = cursor[2]
        self._changes[slot][:] = changes
        words[start] += 1
        self.newest = slot

    def close(self) -> None:
        """Drop the arrays over the mapping; the caller closes the ring."""
        self.arrays.clear()
        self._changes.clear()


def _view_tiles(ring: Ring, start: int) -> TileChanges:
    first = start + place.S_TILES
    return np.frombuffer(ring.words[first : first + ring.layout.tiles], np.uint64)
