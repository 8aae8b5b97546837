"""A small area that keeps changing while the judge keeps answering no: a clock, a spinner, typed text, a progress bar.

Changes of that area alone are judged with a growing pause. A change anywhere else is judged at once, and that judgement
sees the area too. So is a spot of the area once it stands still: the spinner is gone, the bar is full.

An area that stays: its tiles changed before at least `REPEATS` of the newest `MEMORY` noes that cost a call. An area
that moves on: its tiles changed in small steps before `REPEATS` noes, each time next to where they changed before an
earlier no. It grows by each further small step beside it.
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
"""A spot stands still when it has not changed for `_STILL` times its longest recent gap plus `_STILL_S`; the longest
tenth of many gaps does not count, or one rest in between would hide the end.
"""
_MOST_SHARE = 0.03
_MOST_TILES = 128
"""The share of the target, and the number of 16x16 px tiles, above which an area or a step is not small: it may be
news.
"""
_MOST_MOVED = 0.125  # the same share for all steps that a moving area is known from, and for its growth since


class RestlessArea(Struct, frozen=True):
    """`changed`: the tiles that changed before each of the newest noes, oldest first. `tiles`: the area that stays.

    `steps`: for each of the newest `STEPS` noes, the tiles that changed in small steps before it; those of them next to
    such tiles of an earlier no; those next to the latter of an earlier no. `path`: the area that moves on. `pause_s`:
    how long changes of the area alone wait after the start of the last judgement (0: no area).
    """

    changed: tuple[int, ...] = ()
    tiles: int = 0
    pause_s: float = 0.0
    steps: tuple[tuple[int, ...], ...] = ()
    path: int = 0

    @property
    def is_known(self) -> bool:
        return bool(self.tiles | self.path)

    def find_pause_end(self, view_state: ViewState, judged: int, last_start: float) -> float | None:
        """Return until when the changes after frame `judged` may wait; None if they are not of the area alone.
        `last_start`: of the last judgement.
        """
        path = self._extend_path(view_state, judged, view_state.touched_frame)
        if path is None:
            return None
        return min(last_start + self.pause_s, _find_still_time(view_state, judged))

    def _extend_path(self, view_state: ViewState, after: int, until: int) -> int | None:
        """Return the path after the changes in frames (after, until]; None where something else changed too."""
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

    def apply_no(self, view_state: ViewState, after: int, until: int, longest_s: float, *, moves: bool) -> RestlessArea:
        """Return the area after a no on frame `until`, if frame `after` was judged before. `moves`: look for an area
        that moves on too.
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
        """Return the entry of `steps` for the changes before a no."""
        small = reduce(or_, (tiles for tiles in changes if _is_small(tiles, view_state)), 0)
        known = [reduce(or_, (no[place] for no in self.steps), 0) for place in range(REPEATS - 1)]
        return small, *(view_state.view.grid.find_connected(small, earlier) for earlier in known)


def _find_path(view_state: ViewState, steps: tuple[tuple[int, ...], ...], area: int) -> int:
    """Return the area that moves on: the steps of as many of the newest noes as are small together, without spots that
    stay.
    """
    path = 0
    for *_, known in reversed(steps):
        if not _is_small(path | known, view_state, _MOST_MOVED):
            break
        path |= known
    return reduce(or_, (spot for spot in view_state.view.grid.spots(path) if spot & ~area), 0)


def _find_still_time(view_state: ViewState, judged: int) -> float:
    """Return when the first spot that changed after frame `judged` will have stood still for longer than lately, if
    nothing more changes.
    """
    grid = view_state.view.grid
    fresh = view_state.tiles_within(judged, view_state.touched_frame) or 0
    return min((_find_spot_still_time(view_state, grid.near(spot)) for spot in grid.spots(fresh)), default=NEVER)


def _find_spot_still_time(view_state: ViewState, spot: int) -> float:
    times = [mark.at for mark in view_state.marks if mark.tiles is None or mark.tiles & spot]
    if len(times) <= REPEATS:
        return NEVER
    gaps = sorted(later - earlier for earlier, later in pairwise(times))
    return times[-1] + _STILL * gaps[int(len(gaps) * _MOST_GAPS)] + _STILL_S


def _find_repeated(changed: tuple[int, ...]) -> int:
    """Return the tiles in at least `REPEATS` of the bitmaps."""
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
    """Return `grid.box`, cached: each plan asks for it, and the area hardly changes."""
    return grid.box(tiles, crop)


def locate_tiles(view: TargetView, tiles: int) -> Rect | None:
    """Return the box around `tiles` in pixels of the target, None for no tiles."""
    box = _bound_tiles(view.grid, tiles, view.box)
    return box.shift(-view.box.x, -view.box.y) if box is not None else None


def describe_tiles(view: TargetView, tiles: int) -> str:
    """Return in words where `tiles` are, in pixels of the target; "" for no tiles."""
    box = locate_tiles(view, tiles)
    return f"{box.w}x{box.h} pixels at {box.x},{box.y}" if box is not None else ""


def describe_area(area: RestlessArea, view_state: ViewState, longest_s: float) -> str:
    """Return the client's note on the area, "" without a restless area."""
    view = view_state.view
    found = [f"a small area ({place}) changes on and on"] if (place := describe_tiles(view, area.tiles)) else []
    if area.path:
        found.append("something moves on in small steps (as typed text or a bar does)")
    if not found:
        return ""
    return (
        f"{' and '.join(found)} while the answer stays no: such changes alone are judged every {longest_s:g} s, "
        "anything else at once"
    )
