"""Baseline tokens, and how a `change` is measured from its baseline at the first look: by tiles and identity.

A token is one word: a source, its server's start, its geometry, a frame number, and for a part its place and identity.
Where tiles do not tell for certain whether the target changed (they lie in it in part, it is at another place) its
identity in the baseline does. One that nobody had read before a supervisor was killed may be read from the frames it
left (`Aimed.looking`, then `BaselineLooked`); until then nothing that is doubtful counts.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from acud.errors import InvalidRequest
from acud.types import AllOf, AnyOf, Change, NotOf, Rect, Until
from acud.waits.events import BaselineLooked, FrameSeen
from acud.waits.view_state import (
    MISSED,
    NEVER,
    PARTLY,
    Changing,
    Kept,
    Maybe,
    Sight,
    View,
    counted,
    grown,
    marked,
    with_changes,
)

_TOKEN = re.compile(
    r"(?P<source>[^@\s]+)@(?P<server>\S*)/(?P<width>\d{1,5})x(?P<height>\d{1,5})#(?P<frame>\d{1,18})"
    r"(?:\+(?P<x>\d{1,5}),(?P<y>\d{1,5}),(?P<w>\d{1,5}),(?P<h>\d{1,5}))?"
    r"(?:~(?P<identity>[0-9a-f]{16}))?"
)
_ELSEWHERE = "it was elsewhere or out of view before anybody had read how it looked"


class Baseline(Struct, frozen=True):
    """The frame that a change is measured from.

    `source`: the display's name, or a covered window's source. `server` names the run of the X server; it differs when
    the server, or the counting of its frames, started anew. `identity`: of the target without ignored boxes, as the
    frame showed it ("": not known); it tells where the frame's source is not the target's any more, as when a covered
    window was uncovered. `box`: where on the source the target was (None: not said); tiles tell of it there alone.
    """

    source: str
    server: str
    width: int
    height: int
    frame: int
    identity: str = ""
    box: Rect | None = None


def encode(baseline: Baseline) -> str:
    """Return the token of a baseline."""
    b = baseline
    look = f"~{b.identity}" if b.identity else ""
    place = f"+{b.box.x},{b.box.y},{b.box.w},{b.box.h}" if b.box else ""
    return f"{b.source}@{b.server}/{b.width}x{b.height}#{b.frame}{place}{look}"


def parse(token: str) -> Baseline:
    """Return the baseline that a token names.

    Raises: InvalidRequest when it is not a token.
    """
    found = _TOKEN.fullmatch(token)
    if found is None:
        raise InvalidRequest(
            "the baseline is not a token of acud", hint="take one with `acud baseline`, or leave it out for now"
        )
    width, height, frame = (int(found[name]) for name in ("width", "height", "frame"))
    box = Rect(*(int(found[name]) for name in "xywh")) if found["x"] else None
    return Baseline(found["source"], found["server"], width, height, frame, found["identity"] or "", box)


def why_apart(base: Baseline, now: Baseline) -> str:
    """Return why tiles that changed since `base` do not tell of the target as it is `now`; "" where they do."""
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


def at(token: str, frame: int) -> str:
    """Return the token for another frame of the same source. Raises: InvalidRequest when `token` is not one."""
    return encode(replace(parse(token), frame=frame))


def taken(until: Until, token: str) -> Until:
    """Return the condition with `token` for every baseline that was left to "now"."""
    match until:
        case AllOf(parts=parts) | AnyOf(parts=parts):
            return replace(until, parts=tuple(taken(part, token) for part in parts))
        case NotOf(part=part):
            return NotOf(taken(part, token))
        case Change(baseline=""):
            return replace(until, baseline=token)
    return until


def tokens(until: Until) -> frozenset[str]:
    """Return the baseline tokens that a condition names."""
    if isinstance(until, AllOf | AnyOf):
        return frozenset().union(*(tokens(part) for part in until.parts))
    if isinstance(until, NotOf):
        return tokens(until.part)
    return frozenset({until.baseline} if isinstance(until, Change) and until.baseline else ())


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
    apart = why_apart(parse(token), parse(_now(sight, 0)))
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
    base = parse(token)
    same_size = base.source != sight.view.source or (base.width, base.height) == sight.view.size
    # A client's token tells how what it was taken of looked, without ignored boxes; that need not be this target.
    own = hit is None and base.server == sight.view.server and same_size and not sight.view.ignore
    return base.identity if own else ""


def _now(sight: Sight, frame: int) -> str:
    view = sight.view
    return encode(Baseline(view.source, view.server, *view.size, frame, box=view.crop))


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
