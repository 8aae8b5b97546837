"""`scene`: what is on the displays."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.scene.diff import SceneDiff
from acud.scene.nouns import Scene, SceneMode


class SceneGet(Struct, frozen=True, tag="scene", forbid_unknown_fields=True):
    """Return the scene of `displays` (names; empty: of all that are up).

    `mode` None: as it was made last, without looking (it may be empty before the first look); else a look of at least
    that strength. Calls at the same time share a look, and none gets a weaker one than it asked for. `form` `prompt`:
    as text of at most `max_tokens` (0: all of it). `since`: the difference from that scene too, where it is still
    known. `marks`: a picture with the elements' ids drawn in, of the first of the displays, as it may leave this
    machine; its longer side at most `max_side_px` (0: as large as it is).
    """

    mode: SceneMode | None = SceneMode.AGENT_TURN
    displays: Annotated[tuple[str, ...], Meta(max_length=256)] = ()
    form: Literal["json", "prompt"] = "json"
    max_tokens: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    since: Annotated[int, Meta(ge=0)] = 0
    marks: bool = False
    task_id: Annotated[str, Meta(max_length=64)] = ""
    max_side_px: Annotated[int, Meta(ge=0, le=16384)] = 0


class SceneReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`scene` for the form `json`, `text` for `prompt`. `diff` None though `since` was given: that scene is forgotten,
    take the whole one. `marks`: PNG bytes of the frame `marks_frame` (the scene's, or a newer one where that was gone);
    `marks_left_out`: elements without a mark, for want of room.
    """

    scene: Scene | None = None
    text: str = ""
    diff: SceneDiff | None = None
    marks: bytes = b""
    marks_frame: int = 0
    marks_left_out: int = 0


SPEC = RequestSpec(SceneGet, SceneReply, deferred=True)
