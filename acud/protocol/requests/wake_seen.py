"""`wake_seen`: an agent took a wake."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec

_Id = Annotated[str, Meta(min_length=1, max_length=64)]


class WakeSeen(Struct, frozen=True, tag="wake_seen", forbid_unknown_fields=True):
    """Note that the agents of these wakes (whole ids) took them: they are `seen`, and nobody is reminded."""

    wake_ids: Annotated[tuple[_Id, ...], Meta(min_length=1, max_length=1000)]


class WakeSeenReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`unknown`: ids of which no wake is kept here (any more)."""

    unknown: tuple[str, ...] = ()


SPEC = RequestSpec(WakeSeen, WakeSeenReply, mutating=True)
