"""`wake_list`: the wakes, and what became of them."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.types import RouteName, WakeInfo, WakeState


class WakeList(Struct, frozen=True, tag="wake_list", forbid_unknown_fields=True):
    """List wakes, newest first: those nobody has seen yet, or those in `states`, or all with `seen`; of one wait with
    `wait_id`.
    """

    states: tuple[WakeState, ...] = ()
    seen: bool = False
    wait_id: Annotated[str, Meta(max_length=64)] = ""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100


class WakeListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`total`: how many there are before the limit. `routes`: those in the settings, in order. `failing`: routes whose
    newest delivery failed, with the reason.
    """

    wakes: tuple[WakeInfo, ...]
    total: int
    routes: tuple[RouteName, ...]
    failing: dict[str, str] = {}


SPEC = RequestSpec(WakeList, WakeListReply)
