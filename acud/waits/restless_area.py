"""A small area that changes on and on while the judge keeps saying no: a clock, a spinner, typed text, a progress bar.

What changes there alone is no news: it is judged with a growing pause. A change anywhere else is judged at once, and
that judgement shows the area too. So is a spot of the area once it stands still: the spinner is gone, the bar is full.

An area that stays: a tile belongs to it while it changed before `REPEATS` of the newest `MEMORY` noes that cost a call.
An area that moves on: tiles that changed in small steps before a no, next to where they did before an earlier one, and
there next to a yet earlier one (`REPEATS` in all). It grows by each further small step beside it.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import pairwise
from operator import or_

from msgspec import Struct

from acud.types import Rect
from acud.waits.tiles import Grid
from acud.waits.view_state import NEVER, TargetView, ViewState

MEMORY = 8
REPEATS = 3
STEPS = 4
"""Noes that a moving area is known from: 20 s at the longest pause."""
LONGEST_PAUSE_S = 5.0
_FIRST_PAUSE_S = 2.5
_GROWTH = 2.0
_STILL = 1.5
_STILL_S = 0.3
_MOST_GAPS = 0.9
"""A spot stands still when it changed no more for this many of its longest gaps of late, and this long; the longest
tenth of many gaps does not count, or one rest in between would hide the end."""
_MOST_SHARE = 0.03
_MOST_TILES = 128
"""Tiles of 16x16 px, and the share of the target, above which an area or a step is not small: it may be news."""
_MOST_MOVED = 0.125
"""The same share for all that a moving area is known from, and for what it grew by since."""


class RestlessArea(Struct, frozen=True):
    """`changed`: the tiles that changed before each of the newest noes, oldest first. `tiles`: the area that stays.

    `steps`: before each of the newest `STEPS` noes, the tiles that changed in small steps; those of them that were next
    to such of an earlier no; those next to the latter of an earlier no. `path`: the area that moves on. `pause_s`: how
    long changes of the area alone wait after the start of the last judgement. No area: 0.
    """

    changed: tuple[int, ...] = ()
    tiles: int = 0
    pause_s: float = 0.0
    steps: tuple[tuple[int, ...], ...] = ()
    path: int = 0

    @property
    def is_known(self) -> bool:
        """Whether there is such an area."""
        return bool(self.tiles | self.path)

    def pause_end(self, view_state: ViewState, judged: int, last_start: float) -> float | None:
        """Return until when the changes after frame `judged` may wait; None where they are not of the area alone.

        `last_start`: of the last judgement.
        """
        path = self._extend_path(view_state, judged, view_state.touched_frame)
        if path is None:
            return None
        return min(last_start + self.pause_s, _still_at(view_state, judged))

    def _extend_path(self, view_state: ViewState, after: int, until: int) -> int | None:
        """Return the path as the changes in frames (after, until] left it; None where something else changed too."""
        changes = view_state.changes_within(after, until)
        if changes is None or not self.is_known:
            return None
        path = self.path
        for tiles in changes:
            step = tiles & ~self.tiles
            if not _is_small(step, view_state):
                return None
            if step & ~path and view_state.view.grid.find_connected(step, path) != step:
                return None
            path |= step
        return path if _is_small(path & ~self.path, view_state, _MOST_MOVED) else None

    def after_no(self, view_state: ViewState, after: int, until: int, longest_s: float, *, moves: bool) -> RestlessArea:
        """Return what is known after a no on frame `until`, when frame `after` had been judged before.

        `moves`: an area may move on.
        """
        changes = view_state.changes_within(after, until)
        if changes is None:
            return RestlessArea()
        tiles = reduce(or_, changes, 0)
        if not tiles:
            return self
        changed = (*self.changed, tiles)[-MEMORY:]
        if longest_s <= 0:
            return RestlessArea(changed)
        area = _find_repeated(changed)
        if not _is_small(area, view_state):
            area = 0
        steps = (*self.steps, self._measure_steps(view_state, changes))[-STEPS:] if moves else ()
        path = _find_path(view_state, steps, area)
        if not area | path:
            return RestlessArea(changed, steps=steps)
        paused = self._extend_path(view_state, after, until) is not None
        pause_s = min((self.pause_s * _GROWTH if paused else self.pause_s) or _FIRST_PAUSE_S, longest_s)
        return RestlessArea(changed, area, pause_s, steps, path)

    def _measure_steps(self, view_state: ViewState, changes: list[int]) -> tuple[int, ...]:
        """Return what is to be known of the changes before a no, see `steps`."""
        small = reduce(or_, (tiles for tiles in changes if _is_small(tiles, view_state)), 0)
        known = [reduce(or_, (no[place] for no in self.steps), 0) for place in range(REPEATS - 1)]
        return small, *(view_state.view.grid.find_connected(small, earlier) for earlier in known)


def _find_path(view_state: ViewState, steps: tuple[tuple[int, ...], ...], area: int) -> int:
    """Return the area that moves on: as many of the newest noes as are small together, without spots that stay."""
    path = 0
    for *_, known in reversed(steps):
        if not _is_small(path | known, view_state, _MOST_MOVED):
            break
        path |= known
    return reduce(or_, (spot for spot in view_state.view.grid.spots(path) if spot & ~area), 0)


def _still_at(view_state: ViewState, judged: int) -> float:
    """Return when the first spot that changed after frame `judged` will have stood still for longer than of late.

    Nothing more is taken to change.
    """
    grid = view_state.view.grid
    fresh = view_state.tiles_within(judged, view_state.touched_frame) or 0
    return min((_spot_still_at(view_state, grid.near(spot)) for spot in grid.spots(fresh)), default=NEVER)


def _spot_still_at(view_state: ViewState, spot: int) -> float:
    times = [mark.at for mark in view_state.marks if mark.tiles is None or mark.tiles & spot]
    if len(times) <= REPEATS:
        return NEVER
    gaps = sorted(later - earlier for earlier, later in pairwise(times))
    return times[-1] + _STILL * gaps[int(len(gaps) * _MOST_GAPS)] + _STILL_S


def _find_repeated(changed: tuple[int, ...]) -> int:
    """Return the tiles that stand in at least `REPEATS` of the bitmaps."""
    counted = [0] * REPEATS
    for tiles in changed:
        for times in range(REPEATS - 1, 0, -1):
            counted[times] |= counted[times - 1] & tiles
        counted[0] |= tiles
    return counted[-1]


def _is_small(tiles: int, view_state: ViewState, most_share: float = _MOST_SHARE) -> bool:
    whole = view_state.view.masks.touching.bit_count()
    return tiles.bit_count() <= min(_MOST_TILES, most_share * whole)


@lru_cache(maxsize=256)
def _bound_tiles(grid: Grid, tiles: int, crop: Rect) -> Rect | None:
    """Return `grid.box`: each plan asks for it, and the area hardly changes."""
    return grid.box(tiles, crop)


def place_box(view: TargetView, tiles: int) -> Rect | None:
    """Return the box around `tiles` in the target, in its own pixels, None for none."""
    box = _bound_tiles(view.grid, tiles, view.box)
    return box.moved(-view.box.x, -view.box.y) if box is not None else None


def place_text(view: TargetView, tiles: int) -> str:
    """Return where `tiles` are in the target, in its own pixels, "" for none."""
    box = place_box(view, tiles)
    return f"{box.w}x{box.h} pixels at {box.x},{box.y}" if box is not None else ""


def describe_area(area: RestlessArea, view_state: ViewState, longest_s: float) -> str:
    """Return what a client should know of the area, "" where there is none."""
    view = view_state.view
    found = [f"a small area ({place}) changes on and on"] if (place := place_text(view, area.tiles)) else []
    if area.path:
        found.append("something moves on in small steps (as typed text or a bar does)")
    if not found:
        return ""
    return (
        f"{' and '.join(found)} while the answer stays no: such changes alone are judged every {longest_s:g} s, "
        "anything else at once"
    )
