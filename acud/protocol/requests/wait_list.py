"""`wait_list`: the waits."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.tasks.nouns import TaskId
from acud.types import WaitInfo, WaitState


class WaitList(Struct, frozen=True, tag="wait_list", forbid_unknown_fields=True):
    """List waits, newest first: the live ones, or those in `states`, or all with `ended`; of any of `tasks` (whole ids)
    and `displays` alone, where some are named.
    """

    states: tuple[WaitState, ...] = ()
    ended: bool = False
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    tasks: Annotated[tuple[TaskId, ...], Meta(max_length=256)] = ()
    displays: Annotated[tuple[str, ...], Meta(max_length=256)] = ()


class WaitListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`total`: how many there are before the limit."""

    waits: tuple[WaitInfo, ...]
    total: int


SPEC = RequestSpec(WaitList, WaitListReply)
