"""`display_take`: a person takes a display over; agents only watch it for that time."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.types import DisplayInfo


class DisplayTake(Struct, frozen=True, tag="display_take", forbid_unknown_fields=True):
    """Take `display` ("": the default one) over for `for_s`: actions without the lease are refused at once, what is
    under way is dropped, and every held key and button is released. Waits and looks go on. It ends by itself.

    `who` and `note` are told to whoever is refused. With the `lease` held already, it is prolonged: `for_s` from now.
    """

    display: str = ""
    who: Annotated[str, Meta(max_length=100)] = ""
    for_s: Annotated[float, Meta(gt=0, le=86_400)] = 900.0
    note: Annotated[str, Meta(max_length=500)] = ""
    lease: Annotated[str, Meta(max_length=64)] = ""


class TakeReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`lease` lets its holder act on the display, and give it back before `until_utc_s`."""

    lease: str
    until_utc_s: float
    display: DisplayInfo


SPEC = RequestSpec(DisplayTake, TakeReply, mutating=True, deferred=True)
