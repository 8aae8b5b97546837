"""How a view's state (`acud.waits.view_state`) changes with each new view, frame and identity."""

from __future__ import annotations

from msgspec.structs import replace

from acud.waits.baselines import take_first_look
from acud.waits.blinks import BlinkWatch
from acud.waits.events import FrameSeen, TargetLocated
from acud.waits.tiles import Grid
from acud.waits.view_state import (
    MISSED,
    NEVER,
    PARTLY,
    ChangeState,
    EarlyIdentity,
    TargetView,
    UncertainChange,
    ViewState,
    add_tiles,
    count_change,
    lose_look,
    make_view,
    map_changes,
    mark_change,
)

_UNREAD = "before anybody had read how it looked"
_REPAINT_S = 0.5  # A window that is mapped again is empty until its program has painted it; only then its look counts


def show_view(before: ViewState | None, changes: dict[int, ChangeState], event: TargetLocated) -> ViewState:
    """Return the view state for a newly located view; `before`: of the last one. A capture that only restarted (another
    epoch of the same view) compares its first frame itself.
    """
    view = make_view(event)
    if before is None:
        return ViewState(view, event.at, changes, event.touched, event.awaited_baselines)
    if not before.was_hidden and replace(before.view, epoch=view.epoch) == view:
        return replace(before, view=view, since=event.at, grabbed_at=-NEVER, early_identity=None)
    kept = before.identity if before.view.same_shape(view) else ""
    earlier = before.view if before.looked else before.before
    looking = before.awaited_baselines | event.awaited_baselines
    repaints = before.was_hidden and before.changes and earlier is not None
    since = event.at + _REPAINT_S if repaints else event.at
    view_state = ViewState(view, since, before.changes, event.touched, looking, earlier, looks=before.looks)
    return replace(view_state, identity=kept, quiet_from=before.quiet_from)


def hide_view(view_state: ViewState, *, was_hidden: bool) -> ViewState:
    """Return the view state after the target went out of view: it cannot be seen to be quiet meanwhile. `was_hidden`:
    its source may go on, and show other things in the target's place, so that its tiles are void.
    """
    blinks = BlinkWatch() if view_state.blinks is not None else None
    return replace(view_state, quiet_from=NEVER, was_hidden=view_state.was_hidden or was_hidden, blinks=blinks)


def apply_frame(view_state: ViewState, event: FrameSeen, *, every_tile: bool, hidden_s: float) -> ViewState:
    """Return the view state after a notice, and after an identity that had overtaken it."""
    after = _apply_notice(view_state, event, every_tile=every_tile, hidden_s=hidden_s)
    if after is not view_state and after.blinks is not None:
        after = replace(after, blinks=_update_blinks(view_state, after.blinks, event))
    ahead = after.early_identity
    if ahead is None or ahead.frame > after.frame:
        return after
    return apply_identity(replace(after, early_identity=None), ahead.frame, ahead.identity)


def _update_blinks(before: ViewState, blinks: BlinkWatch, event: FrameSeen) -> BlinkWatch:
    """Return the watch on blinking after a notice; if changed tiles are not known, quiet begins anew."""
    touching = before.view.masks.touching
    if event.tiles is None or not before.looked:
        return BlinkWatch(since=event.shown_by) if event.grabbed_at >= before.since else blinks
    hit = event.tiles & touching if event.frame > before.frame else 0
    watch = blinks.note_change(hit, event.looks, event.shown_by) if hit else blinks
    doubtful = event.unsure & touching & ~watch.blinking or watch.since == NEVER
    return watch.restart(event.shown_by) if doubtful and event.grabbed_at >= before.since else watch


def _apply_notice(view_state: ViewState, event: FrameSeen, *, every_tile: bool, hidden_s: float) -> ViewState:
    """Return the view state after a notice. `every_tile`: a change anywhere on the source makes the frame worth
    judging. `hidden_s`: how long the rate cap may keep a change from being grabbed.
    """
    if event.epoch != view_state.view.epoch or event.frame < view_state.frame:
        return view_state
    tiles = event.tiles
    new = event.frame > view_state.frame
    after = replace(view_state, frame=event.frame, grabbed_at=max(view_state.grabbed_at, event.grabbed_at))
    if not view_state.looked:
        touched = {token: _join_tiles(old, event.tiles) for token, old in view_state.touched.items()}
        after = replace(after, touched=touched)
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
    is_certain = tiles is not None and bool(hit & view_state.view.masks.whole)
    return _apply_change(after, event, hit, is_certain) if hit else after


def _join_tiles(tiles: int | None, more: int | None) -> int | None:
    return None if tiles is None or more is None else tiles | more


def _apply_change(view_state: ViewState, event: FrameSeen, hit: int, certain: bool) -> ViewState:
    if certain:
        after, masks = count_change(view_state, event.frame, hit, event.shown_by), view_state.view.masks
        before = view_state.uncertain
        if before is not None:  # its former look is void now, so it can never be compared
            measured = before.is_measured
            after = count_change(after, event.frame, before.tiles, event.shown_by, PARTLY, is_measured=measured)
        is_open = any(change.holds_from is None for change in after.changes.values())
        return replace(after, wants_identity=is_open and masks.touching != masks.whole)
    if not (view_state.identity or view_state.awaited_baselines):
        return lose_look(view_state, event.shown_by, MISSED if event.tiles is None else f"{PARTLY}, {_UNREAD}")
    earlier = view_state.uncertain or UncertainChange(event.frame, 0, event.shown_by)
    measured = earlier.is_measured and event.tiles is not None
    return replace(view_state, uncertain=UncertainChange(event.frame, hit | earlier.tiles, event.shown_by, measured))


def apply_look(view_state: ViewState, event: FrameSeen) -> ViewState:
    """Return the view state after a notice with the target's look. Leaves that ask for a share count the tiles that
    differ from the first look, wherever the target is now.
    """
    look, first = event.look, view_state.looks
    if look is None or not view_state.looked or event.frame < view_state.frame:
        return view_state
    shares = [change for change in view_state.changes.values() if change.leaf.share and change.holds_from is None]
    apart = _diff_tiles(view_state.view, first, look.tiles) if shares and view_state.before is not None else None
    if apart is not None:
        view_state = map_changes(view_state, lambda change: _measure_change(view_state, change, apart, event.frame))
        if view_state.uncertain is not None:
            view_state = replace(view_state, uncertain=UncertainChange(event.frame, apart, event.shown_by))
    elif view_state.before is None and not any(change.touched or change.doubt for change in shares):
        view_state = replace(view_state, looks=first or look.tiles)
    after = apply_identity(view_state, event.frame, look.identity)
    # An evaluator shall still keep this view for the evidence.
    return replace(after, wants_identity=view_state.wants_identity)


def _diff_tiles(view: TargetView, before: bytes, now: bytes) -> int | None:
    """Return the tiles of the source in which the target looks different, None if not known."""
    if not before or len(before) != len(now):
        return None
    own, tiles = Grid(view.box.w, view.box.h), 0
    for index in range(len(now) // 8):
        if before[index * 8 : index * 8 + 8] != now[index * 8 : index * 8 + 8]:
            tiles |= view.grid.find_touching(own.tile(index).shift(view.box.x, view.box.y))
    return tiles & view.masks.touching


def _measure_change(view_state: ViewState, change: ChangeState, tiles: int, frame: int) -> ChangeState:
    if not change.leaf.share or change.holds_from is not None:
        return change
    return add_tiles(view_state, replace(change, touched=0, doubt="", unsure=""), tiles, frame)


# ---- identities ----------------------------------------------------------------------------------------------------


def apply_identity(view_state: ViewState, frame: int, identity: str, heard: int = -1) -> ViewState:
    """Return the view state after a job on `frame` found the view's identity. `heard`: the newest announced frame,
    passed to this wait or not.

    The identity of a later frame waits for that frame's notice, which names the changed tiles.
    """
    if not view_state.looked or frame < view_state.identity_frame:
        return view_state
    if view_state.awaited_baselines:
        return view_state  # the identity to compare with is still to come
    if frame > max(view_state.frame, heard):
        return (
            replace(view_state, early_identity=EarlyIdentity(frame, identity))
            if view_state.needs_identity
            else view_state
        )
    if not view_state.identity:
        return _learn_identity(view_state, frame, identity) if frame >= view_state.touched_frame else view_state
    known = replace(view_state, identity=identity, identity_frame=frame, wants_identity=False)
    if identity == view_state.identity:
        return replace(
            known,
            uncertain=view_state.uncertain if view_state.uncertain and view_state.uncertain.last > frame else None,
        )
    return _count_unseen_change(view_state, frame, identity)


def _learn_identity(view_state: ViewState, frame: int, identity: str) -> ViewState:
    """Keep the target's identity from this frame on; untouched baselines share it."""
    known = replace(view_state, identity=identity, identity_frame=frame, wants_identity=False)
    return map_changes(known, lambda change: _fill_identity(change, identity))


def _fill_identity(change: ChangeState, identity: str) -> ChangeState:
    if change.taken is None or change.holds_from is not None or change.touched or change.taken.identity:
        return change
    return replace(change, taken=replace(change.taken, identity=identity))


def _count_unseen_change(view_state: ViewState, frame: int, identity: str) -> ViewState:
    """Count a change that only the identity shows: it was in partial tiles, or its damage was lost."""
    every = UncertainChange(frame, view_state.view.masks.touching, view_state.grabbed_at, is_measured=False)
    seen = view_state.uncertain or every
    later = seen if seen.last > frame else None
    after = count_change(view_state, frame, seen.tiles, seen.shown_by, is_measured=seen.is_measured)
    return replace(after, identity=identity, identity_frame=frame, uncertain=later, wants_identity=False)
