"""`display_release`: give a display back to the agents."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.display_add import DisplayReply
from acud.protocol.requests.spec import RequestSpec


class DisplayRelease(Struct, frozen=True, tag="display_release", forbid_unknown_fields=True):
    """Give `display` back before its lease runs out. Refused without that `lease`, unless `force`."""

    display: str
    lease: Annotated[str, Meta(max_length=64)] = ""
    force: bool = False


SPEC = RequestSpec(DisplayRelease, DisplayReply, mutating=True)
