"""How a view's state (`acud.waits.view_state`) changes with each new view, frame and identity."""

from __future__ import annotations

from msgspec.structs import replace

from acud.waits.baselines import take_first_look
from acud.waits.blinks import BlinkWatch
from acud.waits.events import FrameSeen, TargetLocated
from acud.waits.view_state import (
    MISSED,
    NEVER,
    PARTLY,
    ChangeState,
    EarlyIdentity,
    UncertainChange,
    ViewState,
    count_change,
    map_changes,
    mark_change,
    view_of,
)

_UNREAD = "before anybody had read how it looked"


def show_view(before: ViewState | None, changes: dict[int, ChangeState], event: TargetLocated) -> ViewState:
    """Return the view state of a newly named view; `before` is what was known of the last one.

    A capture that only started anew (another epoch of the same view) compares its first frame itself.
    """
    view = view_of(event)
    if before is None:
        return ViewState(view, event.at, changes, event.touched, event.awaited_baselines)
    if not before.was_hidden and replace(before.view, epoch=view.epoch) == view:
        return replace(before, view=view, since=event.at, grabbed_at=-NEVER, early_identity=None)
    kept = before.identity if before.view.same_shape(view) else ""
    earlier = before.view if before.looked else before.before
    looking = before.awaited_baselines | event.awaited_baselines
    view_state = ViewState(view, event.at, before.changes, event.touched, looking, earlier)
    return replace(view_state, identity=kept, quiet_from=before.quiet_from)


def hide_view(view_state: ViewState, *, was_hidden: bool) -> ViewState:
    """Return the view state after the target went out of view: whatever it did meanwhile, it was not seen to be quiet.

    `was_hidden`: its source may go on, and show other things in the target's place; what its tiles tell is void.
    """
    blinks = BlinkWatch() if view_state.blinks is not None else None
    return replace(view_state, quiet_from=NEVER, was_hidden=view_state.was_hidden or was_hidden, blinks=blinks)


def apply_frame(view_state: ViewState, event: FrameSeen, *, every_tile: bool, hidden_s: float) -> ViewState:
    """Return the view state after a notice, and after an identity that had overtaken it."""
    after = _noticed(view_state, event, every_tile=every_tile, hidden_s=hidden_s)
    if after is not view_state and after.blinks is not None:
        after = replace(after, blinks=_blinks_after(view_state, after.blinks, event))
    ahead = after.early_identity
    if ahead is None or ahead.frame > after.frame:
        return after
    return apply_identity(replace(after, early_identity=None), ahead.frame, ahead.identity)


def _blinks_after(before: ViewState, blinks: BlinkWatch, event: FrameSeen) -> BlinkWatch:
    """Return what is known of blinking after a notice; where tiles tell nothing, quiet begins anew."""
    touching = before.view.masks.touching
    if event.tiles is None or not before.looked:
        return BlinkWatch(since=event.shown_by) if event.grabbed_at >= before.since else blinks
    hit = event.tiles & touching if event.frame > before.frame else 0
    told = blinks.changed(hit, event.looks, event.shown_by) if hit else blinks
    doubtful = event.unsure & touching & ~told.blinking or told.since == NEVER
    return told.restarted(event.shown_by) if doubtful and event.grabbed_at >= before.since else told


def _noticed(view_state: ViewState, event: FrameSeen, *, every_tile: bool, hidden_s: float) -> ViewState:
    """Return the view state after a notice.

    `every_tile`: a change anywhere on the source makes the frame worth judging. `hidden_s`: how long the rate cap may
    keep a change from being grabbed.
    """
    if event.epoch != view_state.view.epoch or event.frame < view_state.frame:
        return view_state
    tiles = event.tiles
    new = event.frame > view_state.frame
    after = replace(view_state, frame=event.frame, grabbed_at=max(view_state.grabbed_at, event.grabbed_at))
    if not view_state.looked:
        after = replace(after, touched={token: _joined(old, event.tiles) for token, old in view_state.touched.items()})
        return take_first_look(after, event) if event.grabbed_at >= view_state.since else after
    restless = bool(event.unsure & view_state.view.masks.touching)
    if (after.quiet_from == NEVER or restless) and event.grabbed_at >= view_state.since:
        after = replace(after, quiet_from=event.shown_by)
    if not new or tiles == 0:
        return after
    hit = view_state.view.masks.touching if tiles is None else tiles & view_state.view.masks.touching
    if not hit and not every_tile:
        return after
    after = mark_change(after, event, max(view_state.grabbed_at, event.grabbed_at - hidden_s))
    return _changed(after, event, hit, tiles is not None and bool(hit & view_state.view.masks.whole)) if hit else after


def _joined(tiles: int | None, more: int | None) -> int | None:
    return None if tiles is None or more is None else tiles | more


def _changed(view_state: ViewState, event: FrameSeen, hit: int, certain: bool) -> ViewState:
    if certain:
        after = count_change(view_state, event.frame, hit, event.shown_by)
        if view_state.uncertain is not None:  # what it looked like is void now, so nobody will ever tell
            after = count_change(after, event.frame, view_state.uncertain.tiles, event.shown_by, PARTLY)
        return replace(after, wants_identity=False)
    if not (view_state.identity or view_state.awaited_baselines):
        unsure = MISSED if event.tiles is None else f"{PARTLY}, {_UNREAD}"
        return replace(count_change(view_state, event.frame, hit, event.shown_by, unsure), wants_identity=True)
    tiles = hit | (view_state.uncertain.tiles if view_state.uncertain else 0)
    return replace(view_state, uncertain=UncertainChange(event.frame, tiles, event.shown_by))


# ---- identities ----------------------------------------------------------------------------------------------------


def apply_identity(view_state: ViewState, frame: int, identity: str, heard: int = -1) -> ViewState:
    """Return the view state after a job on `frame` told the view's identity. `heard`: the newest frame announced, told
    to this wait or not.

    A frame whose notice has not come yet tells nothing before that: which tiles it changed is still to be heard.
    """
    if not view_state.looked or frame < view_state.identity_frame:
        return view_state
    if view_state.awaited_baselines:
        return view_state  # what it is compared with is still to come
    if frame > max(view_state.frame, heard):
        return (
            replace(view_state, early_identity=EarlyIdentity(frame, identity))
            if view_state.needs_identity
            else view_state
        )
    if not view_state.identity:
        return _learnt(view_state, frame, identity) if frame >= view_state.touched_frame else view_state
    known = replace(view_state, identity=identity, identity_frame=frame, wants_identity=False)
    if identity == view_state.identity:
        return replace(
            known,
            uncertain=view_state.uncertain if view_state.uncertain and view_state.uncertain.last > frame else None,
        )
    return _told_apart(view_state, frame, identity)


def _learnt(view_state: ViewState, frame: int, identity: str) -> ViewState:
    """Know the target's look from here on; baselines still untouched share it."""
    known = replace(view_state, identity=identity, identity_frame=frame, wants_identity=False)
    return map_changes(known, lambda change: _identified(change, identity))


def _identified(change: ChangeState, identity: str) -> ChangeState:
    if change.taken is None or change.holds_from is not None or change.touched or change.taken.identity:
        return change
    return replace(change, taken=replace(change.taken, identity=identity))


def _told_apart(view_state: ViewState, frame: int, identity: str) -> ViewState:
    """Count a change that only the identity shows: partial tiles did it, or damage was swallowed."""
    tiles = view_state.uncertain.tiles if view_state.uncertain else view_state.view.masks.touching
    later = view_state.uncertain if view_state.uncertain and view_state.uncertain.last > frame else None
    shown_by = view_state.uncertain.shown_by if view_state.uncertain else view_state.grabbed_at
    after = count_change(view_state, frame, tiles, shown_by)
    return replace(after, identity=identity, identity_frame=frame, uncertain=later, wants_identity=False)
