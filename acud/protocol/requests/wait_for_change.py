"""`wait_for_change`: one call, one picture, after something changed."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.look import Picture
from acud.protocol.requests.spec import RequestSpec
from acud.types import Rect, Seconds, Share


class WaitForChange(Struct, frozen=True, tag="wait_for_change", forbid_unknown_fields=True):
    """Block until `target` changed since `baseline` ("" is now) or `timeout_s` passed; one picture either way.

    With a `task_id`, `screen` is that task's display, and the call is logged there.
    """

    target: str = "screen"
    display: str = ""
    ignore: Annotated[tuple[Rect, ...], Meta(max_length=64)] = ()
    timeout_s: Annotated[float, Meta(ge=0, le=300)] = 10.0
    settle_s: Seconds = 0.0
    share: Share = 0.0
    baseline: str = ""
    format: Literal["png", "jpeg"] = "png"
    max_side_px: Annotated[int, Meta(ge=0, le=16384)] = 0
    quality: Annotated[int, Meta(ge=1, le=100)] = 90
    task_id: Annotated[str, Meta(max_length=64)] = ""


class ChangeReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`changed`: whether all that was asked for came, share and settling included. `share`: the part of the target
    covered by changed 16 px tiles; `box`: around them; both also told at a timeout.
    """

    changed: bool
    share: float
    box: Rect | None
    message: str
    picture: Picture
    waited_s: float


SPEC = RequestSpec(WaitForChange, ChangeReply, deferred=True)
