"""Where a target's pixels are on its source, with its tile arithmetic done."""

from __future__ import annotations

from msgspec import Struct

from acud.types import Rect
from acud.waits.events import Aimed
from acud.waits.grid import Grid, Masks, masks


class View(Struct, frozen=True):
    """Where the target's pixels are: an `Aimed` with its tile arithmetic done."""

    source: str
    epoch: int
    server: str
    grid: Grid
    crop: Rect | None
    ignore: tuple[Rect, ...]
    masks: Masks

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the source's frames."""
        return self.grid.width, self.grid.height

    @property
    def box(self) -> Rect:
        """The target on the source, whole source included."""
        return self.crop or Rect(0, 0, self.grid.width, self.grid.height)

    def same_shape(self, other: View) -> bool:
        """Tell whether two views can hold the same picture: one server, one size, one set of ignored boxes."""
        size = (self.box.w, self.box.h) == (other.box.w, other.box.h)
        return size and self.server == other.server and self.ignore == other.ignore


def view_of(event: Aimed) -> View:
    """Return the view that an event names."""
    grid = Grid(event.width, event.height)
    box = event.crop or Rect(0, 0, event.width, event.height)
    tiles = masks(grid, box, event.ignore)
    return View(event.source, event.epoch, event.server, grid, event.crop, event.ignore, tiles)
