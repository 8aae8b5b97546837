"""How a view's state (`acud.waits.view_state`) changes with each new view, frame and identity."""

from __future__ import annotations

from msgspec.structs import replace

from acud.waits.baselines import first_look
from acud.waits.events import Aimed, FrameSeen
from acud.waits.view_state import (
    MISSED,
    NEVER,
    PARTLY,
    Changing,
    Look,
    Maybe,
    Sight,
    counted,
    marked,
    view_of,
    with_changes,
)

_UNREAD = "before anybody had read how it looked"


def aimed(before: Sight | None, changes: dict[int, Changing], event: Aimed) -> Sight:
    """Return the sight of a newly named view; `before` is what was known of the last one.

    A capture that only started anew (another epoch of the same view) compares its first frame itself.
    """
    view = view_of(event)
    if before is None:
        return Sight(view, event.at, changes, event.touched, event.looking)
    if not before.unseen and replace(before.view, epoch=view.epoch) == view:
        return replace(before, view=view, since=event.at, grabbed_at=-NEVER, ahead=None)
    kept = before.identity if before.view.same_shape(view) else ""
    earlier = before.view if before.looked else before.before
    looking = before.looking | event.looking
    sight = Sight(view, event.at, before.changes, event.touched, looking, earlier)
    return replace(sight, identity=kept, quiet_from=before.quiet_from)


def lost(sight: Sight, *, unseen: bool) -> Sight:
    """Return the sight after the target went out of view: whatever it did meanwhile, it was not seen to be quiet.

    `unseen`: its source may go on, and show other things in the target's place; what its tiles tell is void.
    """
    return replace(sight, quiet_from=NEVER, unseen=sight.unseen or unseen)


def seen(sight: Sight, event: FrameSeen, *, every_tile: bool, hidden_s: float) -> Sight:
    """Return the sight after a notice, and after an identity that had overtaken it."""
    after = _noticed(sight, event, every_tile=every_tile, hidden_s=hidden_s)
    ahead = after.ahead
    if ahead is None or ahead.frame > after.frame:
        return after
    return observed(replace(after, ahead=None), ahead.frame, ahead.identity)


def _noticed(sight: Sight, event: FrameSeen, *, every_tile: bool, hidden_s: float) -> Sight:
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
        return first_look(after, event) if event.grabbed_at >= sight.since else after
    restless = bool(event.unsure & sight.view.masks.touching)
    if (after.quiet_from == NEVER or restless) and event.grabbed_at >= sight.since:
        after = replace(after, quiet_from=event.grabbed_at)
    if not new or tiles == 0:
        return after
    hit = sight.view.masks.touching if tiles is None else tiles & sight.view.masks.touching
    if not hit and not every_tile:
        return after
    after = marked(after, event, max(sight.grabbed_at, event.grabbed_at - hidden_s))
    return _changed(after, event, hit, tiles is not None and bool(hit & sight.view.masks.whole)) if hit else after


def _joined(tiles: int | None, more: int | None) -> int | None:
    return None if tiles is None or more is None else tiles | more


def _changed(sight: Sight, event: FrameSeen, hit: int, certain: bool) -> Sight:
    if certain:
        after = counted(sight, event.frame, hit, event.grabbed_at)
        if sight.maybe is not None:  # what it looked like is void now, so nobody will ever tell
            after = counted(after, event.frame, sight.maybe.tiles, event.grabbed_at, PARTLY)
        return replace(after, wish=False)
    if not (sight.identity or sight.looking):
        unsure = MISSED if event.tiles is None else f"{PARTLY}, {_UNREAD}"
        return replace(counted(sight, event.frame, hit, event.grabbed_at, unsure), wish=True)
    tiles = hit | (sight.maybe.tiles if sight.maybe else 0)
    return replace(sight, maybe=Maybe(event.frame, tiles, event.grabbed_at))


# ---- identities ----------------------------------------------------------------------------------------------------


def observed(sight: Sight, frame: int, identity: str, heard: int = -1) -> Sight:
    """Return the sight after a job on `frame` told the view's identity. `heard`: the newest frame announced, told to
    this wait or not.

    A frame whose notice has not come yet tells nothing before that: which tiles it changed is still to be heard.
    """
    if not sight.looked or frame < sight.identity_frame:
        return sight
    if sight.looking:
        return sight  # what it is compared with is still to come
    if frame > max(sight.frame, heard):
        return replace(sight, ahead=Look(frame, identity)) if sight.compares else sight
    if not sight.identity:
        return _learnt(sight, frame, identity) if frame >= sight.touched_frame else sight
    known = replace(sight, identity=identity, identity_frame=frame, wish=False)
    if identity == sight.identity:
        return replace(known, maybe=sight.maybe if sight.maybe and sight.maybe.last > frame else None)
    return _told_apart(sight, frame, identity)


def _learnt(sight: Sight, frame: int, identity: str) -> Sight:
    """Know the target's look from here on; baselines still untouched share it."""
    known = replace(sight, identity=identity, identity_frame=frame, wish=False)
    return with_changes(known, lambda change: _identified(change, identity))


def _identified(change: Changing, identity: str) -> Changing:
    if change.taken is None or change.held is not None or change.touched or change.taken.identity:
        return change
    return replace(change, taken=replace(change.taken, identity=identity))


def _told_apart(sight: Sight, frame: int, identity: str) -> Sight:
    """Count a change that only the identity shows: partial tiles did it, or damage was swallowed."""
    tiles = sight.maybe.tiles if sight.maybe else sight.view.masks.touching
    later = sight.maybe if sight.maybe and sight.maybe.last > frame else None
    grabbed_at = sight.maybe.grabbed_at if sight.maybe else sight.grabbed_at
    after = counted(sight, frame, tiles, grabbed_at)
    return replace(after, identity=identity, identity_frame=frame, maybe=later, wish=False)
