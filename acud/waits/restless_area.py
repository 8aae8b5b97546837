"""A small area that changes on and on while the judge keeps saying no: a clock, a spinner, a counter.

What changes there alone is no news: it is judged with a growing pause. A change anywhere else is judged at once, and
that judgement shows the area too. So is the area once it stands still: the spinner is gone, the counter has counted. A
tile belongs to the area while it changed before `REPEATS` of the newest `MEMORY`
noes that cost a call, so a typed line or a bar that moves on does not.
"""

from __future__ import annotations

from itertools import pairwise

from msgspec import Struct

from acud.waits.view_state import NEVER, ViewState

MEMORY = 8
REPEATS = 3
LONGEST_PAUSE_S = 5.0
_FIRST_PAUSE_S = 2.5
_GROWTH = 2.0
_STILL = 1.5
_STILL_S = 0.3
"""An area stands still when it changed no more for this many of its longest gaps of late, and this long."""
_MOST_SHARE = 0.03
_MOST_TILES = 128
"""Tiles of 16x16 px, and the share of the target, above which an area is not small: what plays there may be news."""


class RestlessArea(Struct, frozen=True):
    """`changed`: the tiles that changed before each of the newest noes, oldest first. `tiles`: the area, 0 for none.

    `pause_s`: how long changes of the area alone wait after the start of the last judgement.
    """

    changed: tuple[int, ...] = ()
    tiles: int = 0
    pause_s: float = 0.0

    def holds(self, tiles: int | None) -> bool:
        """Tell whether a change of `tiles` (None: not known) is one of the area alone."""
        return self.tiles != 0 and tiles is not None and not tiles & ~self.tiles

    def still_at(self, view_state: ViewState) -> float:
        """Return when the area will have stood still for longer than it did of late, if nothing more changes."""
        times = [mark.at for mark in view_state.marks if mark.tiles is None or mark.tiles & self.tiles]
        if len(times) <= REPEATS:
            return NEVER
        return times[-1] + _STILL * max(later - earlier for earlier, later in pairwise(times)) + _STILL_S

    def after_no(self, tiles: int | None, view_state: ViewState, longest_s: float) -> RestlessArea:
        """Return what is known after a no on pixels of which `tiles` had changed since the picture judged before."""
        if tiles is None:
            return RestlessArea()
        if not tiles:
            return self
        changed = (*self.changed, tiles)[-MEMORY:]
        area = _repeated(changed)
        if not area or longest_s <= 0 or not _is_small(area, view_state):
            return RestlessArea(changed)
        grown_s = self.pause_s * _GROWTH if self.holds(tiles) else self.pause_s
        return RestlessArea(changed, area, min(grown_s or _FIRST_PAUSE_S, longest_s))


def _repeated(changed: tuple[int, ...]) -> int:
    """Return the tiles that stand in at least `REPEATS` of the bitmaps."""
    counted = [0] * REPEATS
    for tiles in changed:
        for times in range(REPEATS - 1, 0, -1):
            counted[times] |= counted[times - 1] & tiles
        counted[0] |= tiles
    return counted[-1]


def _is_small(area: int, view_state: ViewState) -> bool:
    whole = view_state.view.masks.touching.bit_count()
    return area.bit_count() <= min(_MOST_TILES, _MOST_SHARE * whole)


def describe(area: RestlessArea, view_state: ViewState, longest_s: float) -> str:
    """Return what a client should know of the area, "" where there is none."""
    view = view_state.view
    box = view.grid.box(area.tiles, view.box)
    if box is None:
        return ""
    place = f"{box.w}x{box.h} pixels at {box.x - view.box.x},{box.y - view.box.y}"
    return (
        f"a small area ({place}) changes on and on while the answer stays no: its changes alone are judged every "
        f"{longest_s:g} s, anything else at once"
    )
