"""`display_add`: watch an existing X display."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.types import DisplayInfo

DisplayName = Annotated[str, Meta(pattern=r"^:[0-9]{1,5}(\.[0-9]{1,2})?$")]
FleetDisplayName = Annotated[str, Meta(pattern=r"^([a-z0-9][a-z0-9-]{0,62}/)?:[0-9]{1,5}(\.[0-9]{1,2})?$")]
"""With the host before it, as the endpoint of a fleet wants it."""


class DisplayAdd(Struct, frozen=True, tag="display_add", forbid_unknown_fields=True):
    """Adopt the display `name` (`:0`; at a fleet's endpoint `host/:0`);
    `auth_file` is its Xauthority ("" tries $XAUTHORITY and ~/.Xauthority).

    Its X server has to be run by the user of the daemon, by root or by the user with the uid `owner` (-1: nobody else),
    now and at each later connection: whoever runs it sees the cookie and all that is typed."""

    name: FleetDisplayName
    auth_file: str = ""
    owner: Annotated[int, Meta(ge=-1, le=4294967294)] = -1


class DisplayReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The display. `notes`: fair warnings."""

    display: DisplayInfo
    notes: tuple[str, ...] = ()


SPEC = RequestSpec(DisplayAdd, DisplayReply, mutating=True, deferred=True)
