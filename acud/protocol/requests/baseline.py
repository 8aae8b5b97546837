"""`baseline`: a token for "now", to be handed to a later wait."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec


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


SPEC = RequestSpec(Baseline, BaselineReply, deferred=True)
