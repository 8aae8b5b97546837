"""`gui_find`: where is what these words describe?"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.desktop.found import Found, GroundingBackend
from acud.protocol.requests.spec import RequestSpec
from acud.types import ShortText


class GuiFind(Struct, frozen=True, tag="gui_find", forbid_unknown_fields=True):
    """Find what `description` describes in `target`, on a grab made after this call; nothing is done there.

    `backend` None is the one in the settings. With a `task_id`, `screen` is that task's display, and the search is
    logged there.
    """

    description: ShortText
    target: str = "screen"
    display: str = ""
    backend: GroundingBackend | None = None
    max_candidates: Annotated[int, Meta(ge=1, le=50)] = 8
    task_id: Annotated[str, Meta(max_length=64)] = ""


class FindReply(Struct, frozen=True, forbid_unknown_fields=True):
    """What was found, in pixels of `display`, on which frame; `baseline` is a token for that frame."""

    display: str
    found: Found
    epoch: int
    frame: int
    baseline: str


SPEC = RequestSpec(GuiFind, FindReply, deferred=True)
