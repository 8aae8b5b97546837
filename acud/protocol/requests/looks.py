"""Pictures of displays on request."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.command import FIRST_USE_S, Command
from acud.types import HiddenBox, Rect


class Look(Struct, frozen=True, tag="look", forbid_unknown_fields=True):
    """Take a picture of `target` from a grab made after this call. `max_side_px` 0 keeps the size.

    With a `task_id`, `screen` is that task's display, and the look is logged there. `redacted`: as the picture may
    leave this machine.
    """

    target: str = "screen"
    display: str = ""
    format: Literal["png", "jpeg"] = "png"
    max_side_px: Annotated[int, Meta(ge=0, le=16384)] = 0
    quality: Annotated[int, Meta(ge=1, le=100)] = 90
    task_id: Annotated[str, Meta(max_length=64)] = ""
    redacted: bool = False


class Picture(Struct, frozen=True, forbid_unknown_fields=True):
    """Encoded `image` of `width` x `height` px; `crop` is what it shows in source pixels (a covered window's own).

    `baseline`: a token for it. `hidden`: what is black in a redacted one, in source pixels. `view`: pass it to
    `desktop_action` to give points in the picture's pixels; the middle of the picture's pixel (px, py) is the display's
    (crop.x + (px + 0.5) * crop.w / width, likewise for y).
    """

    display: str
    epoch: int
    frame: int
    crop: Rect
    width: int
    height: int
    format: str
    image: bytes
    baseline: str
    frame_age_s: float
    hidden: tuple[HiddenBox, ...] = ()
    view: str = ""


class LiveWatch(Struct, frozen=True, tag="live_watch", forbid_unknown_fields=True):
    """Grab `display` as it changes, up to `fps` times a second, for `for_s` from now on; asked again with the `watch`
    of the reply it goes on, with `for_s` 0 it ends. Several watches of one display share the fastest. The reply names
    where the frames are.

    While one lasts, each comparison is published as an event `live.frame` {epoch, frame, checked_mono_ns, hidden,
    fault} (at least each second), and the lack of pixels as `live.lost` {code, reason}; neither is stored.
    """

    display: Annotated[str, Meta(min_length=1, max_length=64)]
    fps: Annotated[float, Meta(ge=0.1, le=60)] = 10.0
    for_s: Annotated[float, Meta(ge=0, le=60)] = 10.0
    watch: Annotated[str, Meta(max_length=64)] = ""


class LiveWatched(Struct, frozen=True, forbid_unknown_fields=True):
    """The watch's id, the task that owns the display ("": none), and where the frames are: the ring `path` on the
    daemon's host, its `epoch` and newest `frame`.

    `checked_mono_ns`: CLOCK_MONOTONIC when a grab last equalled that frame, or was it. `hidden`: what the rules of
    `[redaction]` for places hide of that frame; `fault`: why that is not known ("" when it is). Without pixels `path`
    is "", with the cause in `code` and `reason`: `ended` when there will be none again.
    """

    watch: str
    display: str
    task_id: str = ""
    path: str = ""
    epoch: int = 0
    width: int = 0
    height: int = 0
    frame: int = 0
    checked_mono_ns: int = 0
    hidden: tuple[HiddenBox, ...] = ()
    fault: str = ""
    code: str = ""
    reason: str = ""


class Baseline(Struct, frozen=True, tag="baseline", forbid_unknown_fields=True):
    """Take a token before an action, so that a change wait armed after it cannot miss what the action did.

    With a `task_id`, `screen` is that task's display.
    """

    target: str = "screen"
    display: str = ""
    task_id: Annotated[str, Meta(max_length=64)] = ""


class BaselineReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`baseline` names server start, geometry and frame of `display`, and of a part how it looked."""

    baseline: str
    display: str


COMMANDS = (
    Command(
        Look,
        Picture,
        deferred=True,
        limit_s=FIRST_USE_S,
        positional=1,
        errors="Unavailable if redaction cannot be applied",
    ),
    Command(LiveWatch, LiveWatched),
    Command(Baseline, BaselineReply, deferred=True, limit_s=FIRST_USE_S, positional=1),
)
