"""Baseline tokens: a source, its server's start, its geometry, a frame number, for a part its place and its look, in
one word.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from acud.errors import InvalidRequest
from acud.types import AllOf, AnyOf, Change, NotOf, Rect, Until

_TOKEN = re.compile(
    r"(?P<source>[^@\s]+)@(?P<server>\S*)/(?P<width>\d{1,5})x(?P<height>\d{1,5})#(?P<frame>\d{1,18})"
    r"(?:\+(?P<x>\d{1,5}),(?P<y>\d{1,5}),(?P<w>\d{1,5}),(?P<h>\d{1,5}))?"
    r"(?:~(?P<identity>[0-9a-f]{16}))?"
)


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


def apart(base: Baseline, now: Baseline) -> str:
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
