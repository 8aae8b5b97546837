"""`display_remove`: end a managed display, or stop watching an adopted one."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.display_add import DisplayReply
from acud.protocol.requests.spec import RequestSpec


class DisplayRemove(Struct, frozen=True, tag="display_remove", forbid_unknown_fields=True):
    """End the managed display `name`, or forget the adopted one. Refused while waits look at it, unless `force`."""

    name: str
    force: bool = False


SPEC = RequestSpec(DisplayRemove, DisplayReply, mutating=True, deferred=True, outside=True)
