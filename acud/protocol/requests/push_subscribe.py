"""`push_subscribe`: send notifications to a browser."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.push import PushInfo, PushTarget
from acud.protocol.requests.spec import RequestSpec


class PushSubscribe(Struct, frozen=True, tag="push_subscribe", forbid_unknown_fields=True):
    """Send what the pass may see to this browser from now on; the same endpoint again takes the place of the former.

    It ends with the pass when that is revoked, with a token's time, and when its push service knows it no longer.
    """

    pass_id: Annotated[str, Meta(min_length=1, max_length=64)]
    target: PushTarget


class PushReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The subscription."""

    subscription: PushInfo


SPEC = RequestSpec(PushSubscribe, PushReply, mutating=True)
