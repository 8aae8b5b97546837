"""What a `change` is measured from: baselines taken at the first look, or compared with it, by tiles and by looks.

Where tiles do not tell for certain whether the target changed (they lie in it in part, it is at another place) its
identity in the baseline does. One that nobody had read before a supervisor was killed may be read from the frames it
left (`Aimed.looking`, then `BaselineLooked`); until then nothing that is doubtful counts.
"""

from __future__ import annotations

from msgspec.structs import replace

from acud.waits import baseline
from acud.waits.baseline import Baseline
from acud.waits.events import BaselineLooked, FrameSeen
from acud.waits.sight import MISSED, NEVER, PARTLY, Changing, Kept, Maybe, Sight, counted, grown, marked, with_changes
from acud.waits.view import View

_ELSEWHERE = "it was elsewhere or out of view before anybody had read how it looked"


def first_look(sight: Sight, event: FrameSeen) -> Sight:
    """Take the first grab of a view: baselines are taken, or it is compared with what the target was before."""
    looked = marked(replace(sight, looked=True), event, -NEVER)
    if sight.before is not None:
        return _another_view(looked, event, sight.before)
    quiet = replace(looked, quiet_from=event.grabbed_at)
    based = with_changes(quiet, lambda change: _based(quiet, change, event.frame))
    if _undecided(based) and not based.looking:  # all at once: two looks that differ cannot both be the one of now
        return _taken_up(based)
    return replace(based, wish=any(change.held is None for change in based.changes.values()))


def _undecided(sight: Sight) -> set[Kept]:
    """Return the baselines in doubt whose look is known, and will tell."""
    in_doubt = (change for change in sight.changes.values() if change.doubt and change.held is None)
    return {change.taken for change in in_doubt if change.taken and change.taken.identity}


def _another_view(sight: Sight, event: FrameSeen, before: View) -> Sight:
    every = sight.view.masks.touching
    if not sight.view.same_shape(before):
        return replace(counted(sight, event.frame, every, event.grabbed_at), wish=bool(sight.changes))
    if sight.identity:
        quiet_from = event.grabbed_at if sight.quiet_from == NEVER else sight.quiet_from
        return replace(sight, maybe=Maybe(event.frame, every, event.grabbed_at), quiet_from=quiet_from)
    return replace(counted(sight, event.frame, every, event.grabbed_at, _ELSEWHERE), wish=bool(sight.changes))


def _taken_up(sight: Sight) -> Sight:
    """Compare with the look that the target had; leaves that disagree on it count as changed."""
    undecided, tiles = _undecided(sight), sight.maybe.tiles if sight.maybe else 0
    for taken in undecided:
        tiles |= _hit(sight, taken.token)[0] or sight.view.masks.touching
    looks = {taken.identity for taken in undecided}
    if len(looks) > 1:
        return counted(sight, sight.frame, tiles, sight.grabbed_at)
    sure = with_changes(sight, lambda change: replace(change, doubt="") if change.taken in undecided else change)
    return replace(sure, identity=looks.pop(), maybe=Maybe(sight.frame, tiles, sight.grabbed_at))


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
        return grown(sight, based, hit or 0, frame)
    look = _look(sight, change, token, hit)
    if look or token in sight.looking:
        return replace(based, taken=Kept(token, look), doubt=doubt)
    return replace(based, touched=hit or sight.view.masks.touching, held=frame, doubt=doubt)


def _hit(sight: Sight, token: str) -> tuple[int | None, str]:
    """Return the target's tiles that changed since a baseline (None: not known), and why they do not tell enough."""
    apart = baseline.apart(baseline.parse(token), baseline.parse(_now(sight, 0)))
    since = sight.touched.get(token)
    if apart or since is None:
        return None, apart or MISSED
    hit = since & sight.view.masks.touching
    if hit and not hit & sight.view.masks.whole:
        return hit, PARTLY
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


# ---- looks of before -----------------------------------------------------------------------------------------------


def baseline_looked(sight: Sight, event: BaselineLooked) -> Sight:
    """Return the sight now that the look of a baseline is known, or is known to be lost."""
    if event.token not in sight.looking:
        return sight
    fewer = replace(sight, looking=sight.looking - {event.token})
    told = with_changes(fewer, lambda change: _told(change, event)) if event.identity else fewer
    if told.looking or not told.looked:
        return told
    after = with_changes(told, lambda change: _given_up(told, change))
    return _taken_up(after) if _undecided(after) else _settled(after)


def _told(change: Changing, event: BaselineLooked) -> Changing:
    """Keep the look with a leaf of this baseline; before the first look it comes as if it had been stored."""
    if change.taken is None:
        mine = (change.kept.token if change.kept else change.leaf.baseline) == event.token
        known = change.kept is not None and change.kept.identity
        return replace(change, kept=Kept(event.token, event.identity)) if mine and not known else change
    mine = change.taken.token == event.token and change.held is None and not change.taken.identity
    return replace(change, taken=Kept(event.token, event.identity)) if mine else change


def _given_up(sight: Sight, change: Changing) -> Changing:
    """Count a leaf in doubt as changed when its look is lost."""
    if not change.doubt or change.held is not None or change.taken is None or change.taken.identity:
        return change
    hit = _hit(sight, change.taken.token)[0] or sight.view.masks.touching
    return replace(change, touched=change.touched | hit, held=sight.frame)


def _settled(sight: Sight) -> Sight:
    """Go on from the look of baselines that tiles told to be unchanged; what is doubtful since is compared with it."""
    same = (change.taken for change in sight.changes.values() if change.held is None and not change.touched)
    looks = {taken.identity for taken in same if taken and taken.identity}
    if len(looks) == 1 and not sight.identity:
        return replace(sight, identity=looks.pop(), wish=False)
    if sight.maybe and not sight.identity:
        return counted(sight, sight.maybe.last, sight.maybe.tiles, sight.maybe.grabbed_at)
    return replace(sight, wish=any(change.held is None for change in sight.changes.values()))
