"""`push_unsubscribe`: send nothing to a browser any more."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.push_subscribe import PushReply
from acud.protocol.requests.spec import RequestSpec


class PushUnsubscribe(Struct, frozen=True, tag="push_unsubscribe", forbid_unknown_fields=True):
    """End a subscription, and return it; `pass_id`: only when it is of this pass."""

    push_id: Annotated[str, Meta(min_length=1, max_length=64)]
    pass_id: Annotated[str, Meta(max_length=64)] = ""


SPEC = RequestSpec(PushUnsubscribe, PushReply, mutating=True)
