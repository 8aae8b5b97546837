"""What a wait knows of its target's pixels: which frames changed it, since when it is quiet, what it looks like.

Tiles say exactly what changed on the source. A tile that lies only partly in the target (or is partly ignored) may
have changed outside it: such a frame is a `Maybe`, decided by comparing the view's identity with the one before. While
that one is not known (after a certain change, or with a baseline token from before the wait) it counts as changed.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from acud.types import Change
from acud.waits import baseline
from acud.waits.baseline import Baseline
from acud.waits.events import Aimed, FrameSeen
from acud.waits.view import View, view_of

NEVER = float("inf")

MARKS = 64
"""Changing frames remembered; a job picks its frame within milliseconds of its dispatch, so few are ever needed."""


class Kept(Struct, frozen=True):
    """What was stored of a `BaselineTaken`, given back after a restart."""

    token: str
    identity: str = ""


class Mark(Struct, frozen=True):
    """A frame that changed the target, or may have.

    `at`: when that was first known. `since`: the change came no earlier, rate cap considered.
    """

    frame: int
    at: float
    since: float


class Maybe(Struct, frozen=True):
    """Frames that changed only partial tiles and are not compared yet."""

    last: int
    tiles: int
    grabbed_at: float


class Changing(Struct, frozen=True):
    """A `change` leaf: its baseline once taken, the tiles counted since, and the frame from which it holds.

    `doubt`: why it could not be compared with its baseline by tiles ("": it could).
    """

    leaf: Change
    kept: Kept | None = None
    taken: Kept | None = None
    touched: int = 0
    held: int | None = None
    doubt: str = ""


class Sight(Struct, frozen=True):
    """The pixels of one view.

    `touched`: by baseline token, the tiles changed since, up to the first look; None when that is not known.

    `looked`: a grab started after `since` was seen. `frame`, `grabbed_at`: the newest grab. `touched_frame`: the newest
    frame that changed the target or may have. `quiet_from`: the grab of the newest counted change. `identity`: of the
    target as it has been since `identity_frame` ("": not known). `wish`: an identity is worth a job.
    """

    view: View
    since: float
    changes: dict[int, Changing]
    touched: dict[str, int | None] = {}
    before: View | None = None
    looked: bool = False
    frame: int = -1
    grabbed_at: float = float("-inf")
    touched_frame: int = -1
    quiet_from: float = NEVER
    identity: str = ""
    identity_frame: int = -1
    maybe: Maybe | None = None
    wish: bool = False
    marks: tuple[Mark, ...] = ()

    @property
    def compares(self) -> bool:
        """Whether an identity job is needed now."""
        return self.looked and (self.wish or self.maybe is not None)

    def touched_within(self, after: int, until: int) -> bool:
        """Tell whether a frame in (after, until] changed the target, or may have; too long ago counts as yes."""
        forgotten = len(self.marks) == MARKS and self.marks[0].frame > after + 1
        return forgotten or any(after < mark.frame <= until for mark in self.marks)

    def touched_since(self, frame: int) -> float:
        """Return the moment before which no change after `frame` can have come."""
        return next((mark.since for mark in self.marks if mark.frame > frame), -NEVER)

    def changed_at(self, frame: int) -> float | None:
        """Return when the change that made `frame` what it is was first known, or None."""
        times = [mark.at for mark in self.marks if mark.frame <= frame]
        return times[-1] if times else None

    def share(self, index: int) -> float:
        """Return the part of the target that the tiles counted for a `change` leaf cover."""
        whole = self.view.grid.area(self.view.masks.touching, self.view.box)
        return self.view.grid.area(self.changes[index].touched, self.view.box) / whole if whole else 0.0


def aimed(before: Sight | None, changes: dict[int, Changing], event: Aimed) -> Sight:
    """Return the sight of a newly named view; `before` is what was known of the last one.

    A capture that only started anew (another epoch of the same view) compares its first frame itself.
    """
    view = view_of(event)
    if before is None:
        return Sight(view, event.at, changes, event.touched)
    if replace(before.view, epoch=view.epoch) == view:
        return replace(before, view=view, since=event.at, grabbed_at=-NEVER)
    kept = before.identity if before.view.same_shape(view) and before.maybe is None else ""
    earlier = before.view if before.looked else before.before
    sight = Sight(view, event.at, before.changes, event.touched, earlier)
    return replace(sight, identity=kept, quiet_from=before.quiet_from)


def lost(sight: Sight) -> Sight:
    """Return the sight after the target went out of view: whatever it did meanwhile, it was not seen to be quiet."""
    return replace(sight, quiet_from=NEVER)


def seen(sight: Sight, event: FrameSeen, *, every_tile: bool, hidden_s: float) -> Sight:
    """Return the sight after a notice.

    `every_tile`: a change anywhere on the source makes the frame worth judging. `hidden_s`: how long the rate cap may
    keep a change from being grabbed.
    """
    if event.epoch != sight.view.epoch or event.frame < sight.frame:
        return sight
    tiles = event.tiles
    new = event.frame > sight.frame
    after = replace(sight, frame=event.frame, grabbed_at=max(sight.grabbed_at, event.grabbed_at))
    if not sight.looked:
        after = replace(after, touched={token: _joined(old, event.tiles) for token, old in sight.touched.items()})
        return _first_look(after, event) if event.grabbed_at >= sight.since else after
    if after.quiet_from == NEVER and event.grabbed_at >= sight.since:
        after = replace(after, quiet_from=event.grabbed_at)
    if not new or tiles == 0:
        return after
    hit = sight.view.masks.touching if tiles is None else tiles & sight.view.masks.touching
    if not hit and not every_tile:
        return after
    after = _marked(after, event, max(sight.grabbed_at, event.grabbed_at - hidden_s))
    return _changed(after, event, hit, tiles is not None and bool(hit & sight.view.masks.whole)) if hit else after


def _joined(tiles: int | None, more: int | None) -> int | None:
    return None if tiles is None or more is None else tiles | more


def _marked(sight: Sight, event: FrameSeen, since: float) -> Sight:
    marks = (*sight.marks, Mark(event.frame, event.damaged_at or event.at, since))[-MARKS:]
    return replace(sight, touched_frame=event.frame, marks=marks)


def _changed(sight: Sight, event: FrameSeen, hit: int, certain: bool) -> Sight:
    if certain or not sight.identity:
        return replace(_counted(sight, event.frame, hit, event.grabbed_at), wish=not certain)
    tiles = hit | (sight.maybe.tiles if sight.maybe else 0)
    return replace(sight, maybe=Maybe(event.frame, tiles, event.grabbed_at))


def _counted(sight: Sight, frame: int, tiles: int, grabbed_at: float) -> Sight:
    """Count a change: baselines see it, quiet starts anew, the old identity is void."""
    after = replace(sight, quiet_from=grabbed_at, identity="", maybe=None)
    return _with_changes(after, lambda _, change: _grown(after, change, tiles, frame))


def _grown(sight: Sight, change: Changing, tiles: int, frame: int) -> Changing:
    grown = replace(change, touched=change.touched | tiles)
    if grown.held is not None or grown.taken is None or not tiles:
        return grown
    grid, box = sight.view.grid, sight.view.box
    asked = change.leaf.share * grid.area(sight.view.masks.touching, box) if change.leaf.share else 0
    return replace(grown, held=frame) if grid.area(grown.touched, box) >= asked else grown


def _with_changes(sight: Sight, make: Callable[[int, Changing], Changing]) -> Sight:
    return replace(sight, changes={index: make(index, change) for index, change in sight.changes.items()})


# ---- the first look ------------------------------------------------------------------------------------------------


def _first_look(sight: Sight, event: FrameSeen) -> Sight:
    """Take the first grab of a view: baselines are taken, or it is compared with what the target was before."""
    looked = _marked(replace(sight, looked=True), event, -NEVER)
    if sight.before is not None:
        return _another_view(looked, event, sight.before)
    quiet = replace(looked, quiet_from=event.grabbed_at)
    based = _with_changes(quiet, lambda _, change: _based(quiet, change, event.frame))
    undecided = {
        change.taken for change in based.changes.values() if change.taken and change.doubt and change.held is None
    }
    if undecided:
        return _taken_up(based, event, undecided)
    return replace(based, wish=any(change.held is None for change in based.changes.values()))


def _another_view(sight: Sight, event: FrameSeen, before: View) -> Sight:
    every = sight.view.masks.touching
    if sight.identity and sight.view.same_shape(before):
        return replace(sight, maybe=Maybe(event.frame, every, event.grabbed_at))
    return replace(_counted(sight, event.frame, every, event.grabbed_at), wish=bool(sight.changes))


def _taken_up(sight: Sight, event: FrameSeen, undecided: set[Kept]) -> Sight:
    """Compare with the identity that the target had; leaves that disagree on it count as changed."""
    tiles = 0
    for taken in undecided:
        tiles |= sight.view.masks.touching if (hit := _hit(sight, taken.token)[0]) is None else hit
    looks = {taken.identity for taken in undecided}
    if len(looks) > 1:
        return _counted(sight, event.frame, tiles, event.grabbed_at)
    sure = _with_changes(sight, lambda _, change: replace(change, doubt="") if change.held is None else change)
    return replace(sure, identity=looks.pop(), maybe=Maybe(event.frame, tiles, event.grabbed_at))


def _based(sight: Sight, change: Changing, frame: int) -> Changing:
    """Take a leaf's baseline: the frame of now, or the token given, with what changed since.

    Where tiles do not tell that for certain the identity of the baseline does (it stays in doubt until it was
    compared); without one it counts as changed.
    """
    token = change.kept.token if change.kept else change.leaf.baseline
    if not token:
        return replace(change, taken=Kept(_now(sight, frame)))
    based = replace(change, taken=change.kept or Kept(token))
    hit, doubt = _hit(sight, token)
    if not doubt:
        return _grown(sight, based, hit or 0, frame)
    look = _look(sight, change, token, hit)
    if look:
        return replace(based, taken=Kept(token, look), doubt=doubt)
    return replace(based, touched=hit or sight.view.masks.touching, held=frame, doubt=doubt)


def _hit(sight: Sight, token: str) -> tuple[int | None, str]:
    """Return the target's tiles that changed since a baseline (None: not known), and why they do not tell enough."""
    apart = baseline.apart(baseline.parse(token), baseline.parse(_now(sight, 0)))
    since = sight.touched.get(token)
    if apart or since is None:
        return None, apart or "not every frame since was seen"
    hit = since & sight.view.masks.touching
    if hit and not hit & sight.view.masks.whole:
        return hit, "only tiles that lie partly outside of the target, or are partly ignored, changed since"
    return hit, ""


def _look(sight: Sight, change: Changing, token: str, hit: int | None) -> str:
    """Return the identity that the target had in its baseline, "" when that is not known."""
    if change.kept and change.kept.identity:
        return change.kept.identity
    base = baseline.parse(token)
    same_size = base.source != sight.view.source or (base.width, base.height) == sight.view.size
    # A client's token tells how what it was taken of looked, without ignored boxes; that need not be this target.
    own = hit is None and base.server == sight.view.server and same_size and not sight.view.ignore
    return base.identity if own else ""


def _now(sight: Sight, frame: int) -> str:
    view = sight.view
    return baseline.encode(Baseline(view.source, view.server, *view.size, frame, box=view.crop))


# ---- identities ----------------------------------------------------------------------------------------------------


def observed(sight: Sight, frame: int, identity: str) -> Sight:
    """Return the sight after a job on `frame` told the view's identity.

    A frame whose notice has not come yet tells nothing: which tiles it changed is still to be heard.
    """
    if not sight.looked or not sight.identity_frame <= frame <= sight.frame:
        return sight
    if not sight.identity:
        return _learnt(sight, frame, identity) if frame >= sight.touched_frame else sight
    known = replace(sight, identity=identity, identity_frame=frame, wish=False)
    if identity == sight.identity:
        return replace(known, maybe=sight.maybe if sight.maybe and sight.maybe.last > frame else None)
    return _told_apart(sight, frame, identity)


def _learnt(sight: Sight, frame: int, identity: str) -> Sight:
    """Know the target's look from here on; baselines still untouched share it."""
    known = replace(sight, identity=identity, identity_frame=frame, wish=False)
    return _with_changes(known, lambda _, change: _identified(change, identity))


def _identified(change: Changing, identity: str) -> Changing:
    if change.taken is None or change.held is not None or change.touched or change.taken.identity:
        return change
    return replace(change, taken=replace(change.taken, identity=identity))


def _told_apart(sight: Sight, frame: int, identity: str) -> Sight:
    """Count a change that only the identity shows: partial tiles did it, or damage was swallowed."""
    tiles = sight.maybe.tiles if sight.maybe else sight.view.masks.touching
    later = sight.maybe if sight.maybe and sight.maybe.last > frame else None
    grabbed_at = sight.maybe.grabbed_at if sight.maybe else sight.grabbed_at
    counted = _counted(sight, frame, tiles, grabbed_at)
    return replace(counted, identity=identity, identity_frame=frame, maybe=later, wish=False)
