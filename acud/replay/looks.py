"""What a view looks like, by identity, where only the whole frame's identity was recorded.

Equal identities mean equal pixels, as live. Different ones may be of equal pixels where the frame around the view
differs: a view that shows again what it showed before is then judged again, where live it would be remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from acud.types import Rect
from acud.waits.tiles import (
    Grid,
    Masks,
    bits,
    masks,
)

Pixels = NDArray[np.uint8]

APART = 96
"""Steps of 255 by which a colour must differ to be another one: the codec moves what nobody touched by up to 62, and of
tiles that letters change 99 % differ by 136 or more (`scripts/bench replay`)."""


class Looks:
    """The identities of one view: `crop` of the frame without `ignore` boxes, which are relative to it."""

    def __init__(self, grid: Grid, crop: Rect, ignore: tuple[Rect, ...]) -> None:
        self._grid = grid
        self._crop = crop
        self._ignore = ignore
        self._masks: Masks = masks(grid, crop, ignore)
        self._whole = crop == Rect(0, 0, grid.width, grid.height) and not ignore
        self._by_frame: dict[str, str] = {}
        self._identity = ""
        self._pixels: Pixels | None = None
        self._frame_identity = ""
        self.guessed = 0
        """How often only the video could tell whether the view changed."""

    def identity(self, frame_identity: str, tiles: int, picture: Callable[[], Pixels]) -> str:
        """Return the identity of the view in the frame of `frame_identity`.

        `tiles`: what changed since the frame before that was asked about. `picture`: the frame, as the video has it.
        """
        if self._whole:
            return frame_identity
        known = self._by_frame.get(frame_identity)
        if known is None:
            known = self._by_frame[frame_identity] = self._found(frame_identity, tiles, picture)
        if self._masks.touching & ~self._masks.whole:
            self._pixels = picture()
        self._identity = known
        return known

    def _found(self, frame_identity: str, tiles: int, picture: Callable[[], Pixels]) -> str:
        hit = tiles & self._masks.touching
        if self._identity and not hit:
            return self._identity
        if self._identity and not hit & self._masks.whole and not self._differs(hit, picture()):
            return self._identity
        place = f"{frame_identity} {self._crop} {self._ignore}"
        return blake2b(place.encode(), digest_size=8).hexdigest()

    def _differs(self, tiles: int, now: Pixels) -> bool:
        """Tell whether the partial `tiles` changed in the view, by what the video shows of them."""
        self.guessed += 1
        before = self._pixels
        if before is None:
            return True
        seen = np.zeros(now.shape[:2], np.bool_)
        for index in bits(tiles):
            part = self._grid.tile(index).intersect(self._crop)
            if part is not None:
                seen[part.y : part.bottom, part.x : part.right] = True
        for box in (spot.moved(self._crop.x, self._crop.y) for spot in self._ignore):
            seen[max(0, box.y) : box.bottom, max(0, box.x) : box.right] = False
        apart = np.abs(now[:, :, :3][seen].astype(np.int16) - before[:, :, :3][seen])
        return bool(apart.size and apart.max() >= APART)
