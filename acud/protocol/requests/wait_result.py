"""`wait_result`: long-poll a wait."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.requests.wait_show import WaitId
from acud.types import WaitInfo


class WaitResult(Struct, frozen=True, tag="wait_result", forbid_unknown_fields=True):
    """Return when `wait_id` has ended, or after `block_s` with its state so far. Giving up never cancels the wait.

    A reply that tells of the end marks the wait's wake as seen: it is not sent (again). With `peek` it does not.
    """

    wait_id: WaitId
    block_s: Annotated[float, Meta(ge=0, le=300)] = 0.0
    peek: bool = False


class WaitResultReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`ended` tells which of the two it was. `evidence_path`: the kept picture on the daemon's host."""

    wait: WaitInfo
    ended: bool
    evidence_path: str = ""


SPEC = RequestSpec(WaitResult, WaitResultReply, deferred=True)
