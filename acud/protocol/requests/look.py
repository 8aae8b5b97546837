"""`look`: a picture of a target, now."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.types import HiddenBox, Rect


class Look(Struct, frozen=True, tag="look", forbid_unknown_fields=True):
    """Take a picture of `target` from a grab made after this call. `max_side_px` 0 keeps the size.

    With a `task_id`, `screen` is that task's display, and the look is logged there. `redacted`: as the picture may
    leave this machine; an error where that cannot be told.
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

    `baseline`: a token for it. `hidden`: what is black in a redacted one, in source pixels. `view`: hand it to
    `desktop_action`, whose points are then the picture's; the middle of the picture's pixel (px, py) is the display's
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


SPEC = RequestSpec(Look, Picture, deferred=True)
