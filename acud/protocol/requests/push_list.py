"""`push_list`: which browsers take notifications."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.push import PushInfo
from acud.protocol.requests.spec import RequestSpec


class PushList(Struct, frozen=True, tag="push_list", forbid_unknown_fields=True):
    """Return the browsers that take notifications; `pass_id`: those of one pass alone."""

    pass_id: Annotated[str, Meta(max_length=64)] = ""


class PushListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`on`: whether notifications are sent to browsers; `reason`: why not. `public_key`: what a browser subscribes
    with ("" while it is off).
    """

    on: bool
    public_key: str
    subscriptions: tuple[PushInfo, ...]
    reason: str = ""


SPEC = RequestSpec(PushList, PushListReply)
