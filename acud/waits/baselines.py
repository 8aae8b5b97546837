"""Baseline tokens, and how a `change` is measured from its baseline at the first look: by tiles and by identity.

A token is one word: a source, its server's start, its geometry, a frame number, and for a part its place and identity.
Where tiles leave it open whether the target changed (they lie partly outside it, or it has moved), the target's
identity in the baseline decides. An identity that was not read before a supervisor was killed may be read from the
frames it left (`TargetLocated.awaited_baselines`, then `BaselineIdentified`); until then nothing doubtful counts.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import InvalidRequest
from acud.types import Change, Leaf, Rect, Then, Until
from acud.waits.condition_tree import leaves, map_leaves
from acud.waits.events import BaselineIdentified, FrameSeen
from acud.waits.view_state import (
    MISSED,
    NEVER,
    PARTLY,
    ChangeState,
    StoredBaseline,
    TargetView,
    UncertainChange,
    ViewState,
    add_tiles,
    count_change,
    lose_look,
    map_changes,
    mark_change,
)

_TOKEN = re.compile(
    r"(?P<source>[^@\s]+)@(?P<server>\S*)/(?P<width>\d{1,5})x(?P<height>\d{1,5})#(?P<frame>\d{1,18})"
    r"(?:\+(?P<x>\d{1,5}),(?P<y>\d{1,5}),(?P<w>\d{1,5}),(?P<h>\d{1,5}))?"
    r"(?:~(?P<identity>[0-9a-f]{16}))?"
)
_ELSEWHERE = "it was elsewhere or out of view before anybody had read how it looked"


class BaselineToken(Struct, frozen=True):
    """The frame that a change is measured from.

    `source`: the display's name, or a covered window's source. `server` names the run of the X server; it differs when
    the server, or the counting of its frames, started anew. `identity`: of the target without ignored boxes, as the
    frame showed it ("": not known); it decides where the target has another source now, as when a covered window was
    uncovered. `box`: where on the source the target was (None: not known); tiles are compared there only.
    """

    source: str
    server: str
    width: int
    height: int
    frame: int
    identity: str = ""
    box: Rect | None = None


def encode_token(baseline: BaselineToken) -> str:
    b = baseline
    look = f"~{b.identity}" if b.identity else ""
    place = f"+{b.box.x},{b.box.y},{b.box.w},{b.box.h}" if b.box else ""
    return f"{b.source}@{b.server}/{b.width}x{b.height}#{b.frame}{place}{look}"


def parse_token(token: str) -> BaselineToken:
    """Return the baseline that a token names. Raises: InvalidRequest when it is not a token."""
    found = _TOKEN.fullmatch(token)
    if found is None:
        raise InvalidRequest(
            "the baseline is not a token of acud", hint="take one with `acud baseline`, or leave it out for now"
        )
    width, height, frame = (int(found[name]) for name in ("width", "height", "frame"))
    box = Rect(*(int(found[name]) for name in "xywh")) if found["x"] else None
    return BaselineToken(found["source"], found["server"], width, height, frame, found["identity"] or "", box)


def explain_mismatch(base: BaselineToken, now: BaselineToken) -> str:
    """Return why the tiles changed since `base` cannot be compared with the target of `now`; "" where they can."""
    run, _, x_server = base.server.partition(".")
    run_now, _, x_server_now = now.server.partition(".")
    if x_server != x_server_now:
        return "the display has another X server since"
    if run != run_now:
        return "acud was restarted since, and what it had seen before is gone"
    if base.source != now.source:
        return "the target shows through another window or screen since"
    if (base.width, base.height) != (now.width, now.height):
        return f"{now.source} was {base.width}x{base.height} then and is {now.width}x{now.height} now"
    moved = base.box is not None and base.box != now.box
    return "the target is at another place since" if moved else ""


def move_token(token: str, frame: int) -> str:
    """Return the token for another frame of the same source. Raises: InvalidRequest when `token` is not one."""
    return encode_token(replace(parse_token(token), frame=frame))


def with_token(until: Until, token: str) -> Until:
    """Return the condition with `token` for every baseline left at "now", except in later stages."""
    if isinstance(until, Then):
        return Then((with_token(until.parts[0], token), *until.parts[1:]))
    return map_leaves(until, lambda leaf: replace(leaf, baseline=token) if _is_from_now(leaf) else leaf)


def _is_from_now(leaf: Leaf) -> bool:
    return isinstance(leaf, Change) and not leaf.baseline


def collect_tokens(until: Until) -> frozenset[str]:
    return frozenset(leaf.baseline for leaf in leaves(until) if isinstance(leaf, Change) and leaf.baseline)


def take_first_look(view_state: ViewState, event: FrameSeen) -> ViewState:
    """Apply the first grab of a view: take the baselines, or compare the target with what it was before."""
    looked = mark_change(replace(view_state, looked=True), event, -NEVER)
    if view_state.before is not None:
        return _compare_views(looked, event, view_state.before)
    quiet = replace(looked, quiet_from=event.shown_by)
    based = map_changes(quiet, lambda change: _take_baseline(quiet, change, event.frame))
    if (
        _find_undecided(based) and not based.awaited_baselines
    ):  # all at once: two looks that differ cannot both be the one of now
        return _compare_with_look(based)
    return replace(based, wants_identity=any(change.holds_from is None for change in based.changes.values()))


def _find_undecided(view_state: ViewState) -> set[StoredBaseline]:
    """Return the baselines in doubt that have a known look to compare with."""
    in_doubt = (change for change in view_state.changes.values() if change.doubt and change.holds_from is None)
    return {change.taken for change in in_doubt if change.taken and change.taken.identity}


def _compare_views(view_state: ViewState, event: FrameSeen, before: TargetView) -> ViewState:
    every = view_state.view.masks.touching
    if not view_state.view.same_shape(before):
        return replace(
            count_change(view_state, event.frame, every, event.shown_by), wants_identity=bool(view_state.changes)
        )
    if view_state.identity:
        quiet_from = event.shown_by if view_state.quiet_from == NEVER else view_state.quiet_from
        uncertain = UncertainChange(event.frame, every, event.shown_by, is_measured=False)
        return replace(view_state, uncertain=uncertain, quiet_from=quiet_from)
    return replace(lose_look(view_state, event.shown_by, _ELSEWHERE), wants_identity=bool(view_state.changes))


def _compare_with_look(view_state: ViewState) -> ViewState:
    """Compare the target with its former look; if the leaves disagree on that look, it counts as changed."""
    undecided, tiles = _find_undecided(view_state), view_state.uncertain.tiles if view_state.uncertain else 0
    for taken in undecided:
        tiles |= _find_changed_tiles(view_state, taken.token)[0] or view_state.view.masks.touching
    looks = {taken.identity for taken in undecided}
    if len(looks) > 1:
        return count_change(view_state, view_state.frame, tiles, view_state.grabbed_at)
    sure = map_changes(view_state, lambda change: replace(change, doubt="") if change.taken in undecided else change)
    return replace(
        sure, identity=looks.pop(), uncertain=UncertainChange(view_state.frame, tiles, view_state.grabbed_at)
    )


def _take_baseline(view_state: ViewState, change: ChangeState, frame: int) -> ChangeState:
    """Take a leaf's baseline: the present frame, or the given token with what changed since.

    Where tiles leave that open, the baseline's identity decides (the leaf is in doubt until it was compared); without
    an identity the leaf counts as changed.
    """
    token = change.stored.token if change.stored else change.leaf.baseline
    if not token:
        return replace(change, taken=StoredBaseline(make_token(view_state.view, frame)))
    based = replace(change, taken=change.stored or StoredBaseline(token))
    hit, doubt = _find_changed_tiles(view_state, token)
    if not doubt:
        return add_tiles(view_state, based, hit or 0, frame)
    look = _find_identity(view_state, change, token, hit)
    if look or token in view_state.awaited_baselines:
        return replace(based, taken=StoredBaseline(token, look), doubt=doubt)
    return replace(based, touched=hit or view_state.view.masks.touching, holds_from=frame, doubt=doubt)


def _find_changed_tiles(view_state: ViewState, token: str) -> tuple[int | None, str]:
    """Return the target's tiles changed since a baseline (None: not known), and why they do not suffice, or ""."""
    apart = explain_mismatch(parse_token(token), parse_token(make_token(view_state.view, 0)))
    since = view_state.touched.get(token)
    if apart or since is None:
        return None, apart or MISSED
    hit = since & view_state.view.masks.touching
    if hit and not hit & view_state.view.masks.whole:
        return hit, PARTLY
    return hit, ""


def _find_identity(view_state: ViewState, change: ChangeState, token: str, hit: int | None) -> str:
    """Return the target's identity in its baseline, "" if unknown."""
    if change.stored and change.stored.identity:
        return change.stored.identity
    base = parse_token(token)
    same_size = base.source != view_state.view.source or (base.width, base.height) == view_state.view.size
    # The identity in a client's token is of what the token was taken of, without ignored boxes: maybe another target.
    own = hit is None and base.server == view_state.view.server and same_size and not view_state.view.ignore
    return base.identity if own else ""


def make_token(view: TargetView, frame: int) -> str:
    return encode_token(BaselineToken(view.source, view.server, *view.size, frame, box=view.crop))


# ---- looks of before -----------------------------------------------------------------------------------------------


def apply_baseline_identity(view_state: ViewState, event: BaselineIdentified) -> ViewState:
    """Return the view state once the look of a baseline is known, or known to be lost."""
    if event.token not in view_state.awaited_baselines:
        return view_state
    fewer = replace(view_state, awaited_baselines=view_state.awaited_baselines - {event.token})
    known = map_changes(fewer, lambda change: _keep_look(change, event)) if event.identity else fewer
    if known.awaited_baselines or not known.looked:
        return known
    after = map_changes(known, lambda change: _give_up_look(known, change))
    return _compare_with_look(after) if _find_undecided(after) else _resume_from_look(after)


def _keep_look(change: ChangeState, event: BaselineIdentified) -> ChangeState:
    """Keep the look with a leaf of this baseline; before the first look as if it had been stored."""
    if change.taken is None:
        mine = (change.stored.token if change.stored else change.leaf.baseline) == event.token
        known = change.stored is not None and change.stored.identity
        return replace(change, stored=StoredBaseline(event.token, event.identity)) if mine and not known else change
    mine = change.taken.token == event.token and change.holds_from is None and not change.taken.identity
    return replace(change, taken=StoredBaseline(event.token, event.identity)) if mine else change


def _give_up_look(view_state: ViewState, change: ChangeState) -> ChangeState:
    """Count a leaf in doubt as changed when its look is lost."""
    if not change.doubt or change.holds_from is not None or change.taken is None or change.taken.identity:
        return change
    hit = _find_changed_tiles(view_state, change.taken.token)[0] or view_state.view.masks.touching
    return replace(change, touched=change.touched | hit, holds_from=view_state.frame)


def _resume_from_look(view_state: ViewState) -> ViewState:
    """Take over the look of a baseline that by its tiles is unchanged; later doubts are compared with it."""
    same = (change.taken for change in view_state.changes.values() if change.holds_from is None and not change.touched)
    looks = {taken.identity for taken in same if taken and taken.identity}
    if len(looks) == 1 and not view_state.identity:
        return replace(view_state, identity=looks.pop(), wants_identity=False)
    if view_state.uncertain and not view_state.identity:
        return count_change(
            view_state, view_state.uncertain.last, view_state.uncertain.tiles, view_state.uncertain.shown_by
        )
    return replace(view_state, wants_identity=any(change.holds_from is None for change in view_state.changes.values()))
