"""`sense_list`: what was seen lately."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.analysis.nouns import SenseEvent
from acud.protocol.requests.spec import RequestSpec


class SenseList(Struct, frozen=True, tag="sense_list", forbid_unknown_fields=True):
    """List the kept sense events whose id is above `after`, oldest first; with `meta_only` without their pictures."""

    after: Annotated[int, Meta(ge=0, le=2**53)] = 0
    meta_only: bool = False


class SenseListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The events."""

    events: tuple[SenseEvent, ...]


SPEC = RequestSpec(SenseList, SenseListReply)
