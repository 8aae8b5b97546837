"""`baseline`: a token for "now", to be handed to a later wait."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec


class Baseline(Struct, frozen=True, tag="baseline", forbid_unknown_fields=True):
    """Take a token before an action, so that a change wait armed after it cannot miss what the action did."""

    target: str = "screen"
    display: str = ""


class BaselineReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`baseline` names server start, geometry and frame of `display`."""

    baseline: str
    display: str


SPEC = RequestSpec(Baseline, BaselineReply, deferred=True)
