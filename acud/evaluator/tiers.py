"""How a frame of a display differs from the one its scene showed before, tier by tier."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from acud.pixels import blocks
from acud.pixels.gates import dhash, ssim
from acud.pixels.tiles import TileCompare
from acud.scene.nouns import ChangeTiers

Pixels = NDArray[np.uint8]

MAX_BYTES = 64 << 20
"""Pixels kept: the frames of 17 displays of 1280x720. One whose frame was let go is compared from its next one on."""


def tiers(before: Pixels, after: Pixels) -> ChangeTiers:
    """Return how `after` differs from `before`, both height x width x 4 uint8 BGRX, C-contiguous, of one shape.

    Equal frames cost the tiles alone; of others only what the changed tiles touch is looked at for `ssim`.
    """
    height, width = after.shape[:2]
    compare = TileCompare(width, height)
    mask = compare.changed(before, after)
    box = compare.bounds(mask)
    hashed = dhash(after)
    if box is None:
        return ChangeTiers(0, f"{hashed:016x}", 0, 0, 1.0)
    return ChangeTiers(
        int(np.count_nonzero(mask)),
        f"{hashed:016x}",
        (hashed ^ dhash(before)).bit_count(),
        int(np.count_nonzero(blocks.grid(before) != blocks.grid(after))),
        round(ssim(before, after, box), 6),
    )


class _Shown(NamedTuple):
    epoch: int
    frame: int
    pixels: Pixels


class ShownFrames:
    """Keeps, per source, the pixels that its last scene was made of; the source asked for longest ago goes first."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._shown: OrderedDict[str, _Shown] = OrderedDict()

    def advance(self, source: str, epoch: int, frame: int, pixels: Pixels) -> ChangeTiers | None:
        """Return how `pixels` differ from the frame kept of `source`, and keep these from now on.

        None where there is nothing to compare with: the first frame, another size, or one that was let go.
        """
        before = self._shown.get(source)
        self._shown[source] = _Shown(epoch, frame, pixels)
        self._shown.move_to_end(source)
        self._shrink()
        if before is None or before.pixels.shape != pixels.shape:
            return None
        return tiers(before.pixels, pixels)

    def pixels(self, source: str, epoch: int, frame: int) -> Pixels | None:
        """Return the pixels of that very frame if they are the ones kept; not to be written to."""
        kept = self._shown.get(source)
        return kept.pixels if kept is not None and (kept.epoch, kept.frame) == (epoch, frame) else None

    def forget(self, source: str) -> None:
        """Let go of a source that is no more."""
        self._shown.pop(source, None)

    def _shrink(self) -> None:
        while len(self._shown) > 1 and sum(kept.pixels.nbytes for kept in self._shown.values()) > self._max_bytes:
            self._shown.popitem(last=False)
