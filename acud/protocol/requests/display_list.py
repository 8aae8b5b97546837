"""`display_list`: the displays acud knows."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec
from acud.types import DisplayInfo


class DisplayList(Struct, frozen=True, tag="display_list", forbid_unknown_fields=True):
    """List the displays with their state, frame rate, frame age and windows; ended ones too with `ended`."""

    ended: bool = False


class DisplayListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The displays; `default` is what `screen` means ("" while none is up). `default_is_set`: by `[display] default`;
    else clients on this host mean the display that their own programs show on (DISPLAY).
    """

    displays: tuple[DisplayInfo, ...]
    default: str
    default_is_set: bool = False


SPEC = RequestSpec(DisplayList, DisplayListReply)
