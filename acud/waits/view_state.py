"""What a wait knows of its target's pixels: which frames changed it, since when it is quiet, what it looks like.

Tiles show exactly what changed on the source. A tile that lies only partly in the target (or is partly ignored) may
have changed outside it: such a frame is an `UncertainChange`, decided by comparing the view's identity with the former
one. While that is not known (after a certain change, or with a baseline token from before the wait) it counts as
changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_

from msgspec import Struct
from msgspec.structs import replace

from acud.types import Change, Rect
from acud.waits.blinks import BlinkWatch
from acud.waits.events import FrameSeen, TargetLocated
from acud.waits.tiles import Grid, Masks, masks

NEVER = float("inf")
PARTLY = "only tiles that lie partly outside of the target, or are partly ignored, changed since"
MISSED = "not every frame since was seen"
UNMEASURED = "it looks different, and how much of it changed was not measured"
MARKS = 64
"""Changing frames remembered; a job picks its frame within milliseconds of its dispatch, so few are needed."""


class TargetView(Struct, frozen=True):
    """Where the target's pixels are: a `TargetLocated` with its tiles worked out."""

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
        """The target's box on the source, also if it is the whole source."""
        return self.crop or Rect(0, 0, self.grid.width, self.grid.height)

    @property
    def is_window(self) -> bool:
        """Whether the source is a window's own pixels, not those of a display."""
        return self.source.rpartition(".")[2].startswith("w")

    def same_shape(self, other: TargetView) -> bool:
        """Return whether two views can hold the same picture: same server, size and ignored boxes."""
        size = (self.box.w, self.box.h) == (other.box.w, other.box.h)
        return size and self.server == other.server and self.ignore == other.ignore


def make_view(event: TargetLocated) -> TargetView:
    grid = Grid(event.width, event.height)
    box = event.crop or Rect(0, 0, event.width, event.height)
    tiles = masks(grid, box, event.ignore)
    return TargetView(event.source, event.epoch, event.server, grid, event.crop, event.ignore, tiles)


class StoredBaseline(Struct, frozen=True):
    """A stored `BaselineTaken`, given back after a restart."""

    token: str
    identity: str = ""


class ChangeMark(Struct, frozen=True):
    """A frame that changed the target, or may have.

    `at`: when that was first known. `since`: the change came no earlier, rate cap considered. `tiles`: the target's
    changed tiles, None if not known.
    """

    frame: int
    at: float
    since: float
    tiles: int | None = None


class UncertainChange(Struct, frozen=True):
    """Frames that changed only partial tiles and are not compared yet. `is_measured`: no more than `tiles` changed."""

    last: int
    tiles: int
    shown_by: float
    is_measured: bool = True


class EarlyIdentity(Struct, frozen=True):
    """A job's identity of a frame before the notice of that frame has come."""

    frame: int
    identity: str


class ChangeState(Struct, frozen=True):
    """A `change` leaf: its baseline once taken, the tiles counted since, and the frame from which it holds.

    `doubt`: why it could not be compared with its baseline by tiles ("": it could). It then holds once its identity
    differs or is known to be lost, or tiles change. `unsure`: why some of `touched` only counts as changed ("": it did
    change).
    """

    leaf: Change
    stored: StoredBaseline | None = None
    taken: StoredBaseline | None = None
    touched: int = 0
    holds_from: int | None = None
    doubt: str = ""
    unsure: str = ""


class ViewState(Struct, frozen=True):
    """The pixels of one view.

    `touched`: by baseline token, the tiles changed since, up to the first look; None when that is not known.
    `awaited_baselines`: the tokens for which looks are still being read from frames of a former supervisor. `looked`: a
    grab started after `since` was seen. `frame`, `grabbed_at`: the newest grab. `touched_frame`: the newest frame that
    changed the target or may have. `quiet_from`: when the newest counted change was there at the latest. `identity`: of
    the target since `identity_frame` ("": not known). `wants_identity`: an identity is worth a job. `blinks`: the
    blinking tiles, where a leaf ignores them. `early_identity`: an identity that overtook the notice of its frame.
    `was_hidden`: the target went out of view, while its source may have gone on. `looks`: of each tile at the first
    look, where a leaf asks for a share (empty: not known). `acted_at`: when the action that the wait follows sent its
    last key: quiet counts from then.
    """

    view: TargetView
    since: float
    changes: dict[int, ChangeState]
    touched: dict[str, int | None] = {}
    awaited_baselines: frozenset[str] = frozenset()
    before: TargetView | None = None
    looked: bool = False
    frame: int = -1
    grabbed_at: float = float("-inf")
    touched_frame: int = -1
    quiet_from: float = NEVER
    identity: str = ""
    identity_frame: int = -1
    uncertain: UncertainChange | None = None
    wants_identity: bool = False
    marks: tuple[ChangeMark, ...] = ()
    early_identity: EarlyIdentity | None = None
    was_hidden: bool = False
    blinks: BlinkWatch | None = None
    looks: bytes = b""
    acted_at: float = -NEVER

    @property
    def needs_identity(self) -> bool:
        """Whether an identity job is needed now."""
        return self.looked and not self.awaited_baselines and (self.wants_identity or self.uncertain is not None)

    def touched_within(self, after: int, until: int, besides: int = 0) -> bool:
        """Return whether a frame in (after, until] changed the target, or may have; too long ago counts as yes.
        `besides`: tiles that do not count.
        """
        forgotten = len(self.marks) == MARKS and self.marks[0].frame > after + 1
        marks = [mark for mark in self.marks if after < mark.frame <= until]
        return forgotten or any(mark.tiles is None or bool(mark.tiles & ~besides) or not besides for mark in marks)

    def touched_since(self, frame: int) -> float:
        """Return the earliest time of the first change after `frame`."""
        return next((mark.since for mark in self.marks if mark.frame > frame), -NEVER)

    def tiles_within(self, after: int, until: int) -> int | None:
        """Return the tiles of the target that changed in frames (after, until], None if not known."""
        changes = self.changes_within(after, until)
        return None if changes is None else reduce(or_, changes, 0)

    def changes_within(self, after: int, until: int) -> list[int] | None:
        """Return the same frame by frame, oldest first."""
        if len(self.marks) == MARKS and self.marks[0].frame > after + 1:
            return None
        changes: list[int] = []
        for mark in self.marks:
            if after < mark.frame <= until:
                if mark.tiles is None:
                    return None
                changes.append(mark.tiles)
        return changes

    def changed_at(self, frame: int) -> float | None:
        """Return when the last change up to `frame` was first known, or None."""
        times = [mark.at for mark in self.marks if mark.frame <= frame]
        return times[-1] if times else None

    def share(self, index: int) -> float:
        """Return the share of the target (0 to 1) that the counted tiles of a `change` leaf cover."""
        whole = self.view.grid.area(self.view.masks.touching, self.view.box)
        return self.view.grid.area(self.changes[index].touched, self.view.box) / whole if whole else 0.0


# ---- counting ------------------------------------------------------------------------------------------------------


def mark_change(view_state: ViewState, event: FrameSeen, since: float) -> ViewState:
    """Remember a frame that changed the target, or may have, no earlier than `since`."""
    tiles = None if event.tiles is None else event.tiles & view_state.view.masks.touching
    mark = ChangeMark(event.frame, event.damaged_at or event.at, since, tiles)
    marks = (*view_state.marks, mark)[-MARKS:]
    return replace(view_state, touched_frame=event.frame, marks=marks)


def count_change(
    view_state: ViewState, frame: int, tiles: int, shown_by: float, unsure: str = "", *, is_measured: bool = True
) -> ViewState:
    """Count a change: leaves count it, quiet starts anew, the old identity is void. `unsure`: see `ChangeState`.
    `is_measured`: no more than `tiles` changed; else leaves that ask for a share are in doubt.
    """
    after = replace(view_state, quiet_from=shown_by, identity="", uncertain=None)
    if not is_measured:
        after = doubt_changes(after, UNMEASURED, shares_only=True)

    def count(change: ChangeState) -> ChangeState:
        return add_tiles(after, change, tiles, frame, unsure) if is_measured or not change.leaf.share else change

    return map_changes(after, count)


def lose_look(view_state: ViewState, shown_by: float, why: str) -> ViewState:
    """Return the view state after a possible change without a former look to compare: quiet starts anew, nothing counts
    as changed.
    """
    return doubt_changes(replace(view_state, quiet_from=shown_by, uncertain=None, wants_identity=True), why)


def add_tiles(view_state: ViewState, change: ChangeState, tiles: int, frame: int, unsure: str = "") -> ChangeState:
    """Add tiles to those a leaf counts; it holds from `frame` on if they suffice."""
    grown = replace(change, touched=change.touched | tiles)
    if grown.holds_from is not None or grown.taken is None or not tiles:
        return grown
    grown = replace(grown, unsure=grown.unsure or unsure)
    grid, box = view_state.view.grid, view_state.view.box
    asked = change.leaf.share * grid.area(view_state.view.masks.touching, box) if change.leaf.share else 0
    return replace(grown, holds_from=frame, doubt="") if grid.area(grown.touched, box) >= asked else grown


def doubt_changes(view_state: ViewState, why: str, *, shares_only: bool = False) -> ViewState:
    """Note that leaves can no longer be compared with their baselines, until tiles change."""

    def doubt(change: ChangeState) -> ChangeState:
        is_open = change.holds_from is None and change.taken is not None and (change.leaf.share or not shares_only)
        return replace(change, doubt=why) if is_open else change

    return map_changes(view_state, doubt)


def map_changes(view_state: ViewState, make: Callable[[ChangeState], ChangeState]) -> ViewState:
    return replace(view_state, changes={index: make(change) for index, change in view_state.changes.items()})
