"""`display_create`: start a managed display."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.fleet import Labels
from acud.protocol.requests.display_add import DisplayReply
from acud.protocol.requests.spec import RequestSpec


class DisplayCreate(Struct, frozen=True, tag="display_create", forbid_unknown_fields=True):
    """Start an Xvfb with a window manager and a session bus of its own; 0 means the size in the settings.

    The size at creation is the largest this display can ever have. `labels`: what the host must carry (`[fleet]
    labels`).
    """

    width: Annotated[int, Meta(ge=0, le=16384)] = 0
    height: Annotated[int, Meta(ge=0, le=16384)] = 0
    window_manager: str = ""
    labels: Labels = {}


SPEC = RequestSpec(DisplayCreate, DisplayReply, mutating=True, deferred=True, outside=True)
