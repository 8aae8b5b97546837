"""How much of a target changed since a baseline, in tiles."""

from __future__ import annotations

from msgspec import Struct

from acud.supervisor.sources import Source
from acud.supervisor.waits.live import Live
from acud.types import Rect
from acud.waits.grid import Grid, masks


class Changed(Struct, frozen=True):
    """`share`: the part of the target covered by changed 16 px tiles. `box`: around them, in the target's pixels."""

    changed: bool
    share: float
    box: Rect | None


def of(live: Live, source: Source | None, touched: int | None, *, changed: bool) -> Changed:
    """Return what of the wait's target the `touched` tiles cover; None (not known) is all of it."""
    if not changed or source is None:
        return Changed(False, 0.0, None)
    grid = Grid(source.width, source.height)
    crop = live.crop or Rect(0, 0, source.width, source.height)
    tiles = (grid.all if touched is None else touched) & masks(grid, crop, live.ignore).touching
    box = grid.box(tiles, crop)
    share = grid.area(tiles, crop) / crop.area
    return Changed(True, share, box.moved(-crop.x, -crop.y) if box is not None else None)
