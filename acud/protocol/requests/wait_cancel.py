"""`wait_cancel`: end a wait without a verdict."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.requests.wait_create import WaitReply
from acud.protocol.requests.wait_show import WaitId


class WaitCancel(Struct, frozen=True, tag="wait_cancel", forbid_unknown_fields=True):
    """Cancel the live wait `wait_id`; an ended one is a conflict that says how it ended."""

    wait_id: WaitId
    reason: Annotated[str, Meta(max_length=500)] = ""


SPEC = RequestSpec(WaitCancel, WaitReply, mutating=True)
