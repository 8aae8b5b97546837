"""What is on the displays, as structure."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.command import SEARCH_S, Command
from acud.types import Rect
from acud.types.actions import Point
from acud.types.scene import LeftOut, Scene, SceneDiff, SceneMode, VlmElement


class SceneGet(Struct, frozen=True, tag="scene", forbid_unknown_fields=True):
    """Return the scene of `displays` (names; empty: of all that are up).

    `mode` None: as it was made last, without looking (it may be empty before the first look); else a look of at least
    that strength. Calls at the same time share a look, and none gets a weaker one than it asked for. `target`: only
    this part: an element's id, `window:TITLE`, a window's id, words of a title, or an application ("": everything).
    `form` `prompt`: as text of at most `max_tokens` (0: all of it). `since`: what differs from that scene, where it is
    still known: with `prompt` as text instead of the whole, where that is shorter; else beside it. `marks`: a picture
    with the elements' ids drawn in, of the first of the displays, as it may leave this machine; its longer side at most
    `max_side_px` (0: as large as it is). `acted`: of what differs, as text, only what an action at these points
    changed, in the windows that it reached and in new ones. `within_s`: the answer comes by then, in seconds (0: at the
    end of the look). What was not read again by then is as it was read before, or unknown, as its provider's state
    shows; the look goes on.
    """

    mode: SceneMode | None = SceneMode.AGENT_TURN
    displays: Annotated[tuple[str, ...], Meta(max_length=256)] = ()
    form: Literal["json", "prompt"] = "json"
    max_tokens: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    since: Annotated[int, Meta(ge=0)] = 0
    marks: bool = False
    task_id: Annotated[str, Meta(max_length=64)] = ""
    max_side_px: Annotated[int, Meta(ge=0, le=16384)] = 0
    target: Annotated[str, Meta(max_length=500)] = ""
    acted: Annotated[tuple[Point, ...], Meta(max_length=64)] | None = None
    within_s: Annotated[float, Meta(ge=0, le=300)] = 5.0


class SceneReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`scene_id`, and `scene` for the form `json`, `text` for `prompt`, with what `max_tokens` kept out of that
    (`left_out`). `diff`, of the form `json`, None though `since` was given: that scene is forgotten, take the whole.

    `marks`: PNG bytes of the frame `marks_frame` (the scene's, or a newer one where that was gone); `marks_left_out`:
    elements without a mark, for want of room.
    """

    scene: Scene | None = None
    text: str = ""
    diff: SceneDiff | None = None
    marks: bytes = b""
    marks_frame: int = 0
    marks_left_out: int = 0
    left_out: tuple[LeftOut, ...] = ()
    scene_id: int = 0


class SceneSubscribe(Struct, frozen=True, tag="scene_subscribe", forbid_unknown_fields=True):
    """Look at `displays` (empty: all) as they change, for `for_s` from now on; asked again it goes on. Each scene that
    differs is published as an event `scene.updated` with its id and what made it, never stored; `scene` with mode null
    fetches it (the Python clients' `subscribe_scene` does all of that).

    `for_s` 0 ends the subscription `subscription`.
    """

    displays: Annotated[tuple[str, ...], Meta(max_length=256)] = ()
    for_s: Annotated[float, Meta(ge=0, le=3600)] = 60.0
    subscription: Annotated[str, Meta(max_length=64)] = ""


class SceneSubscribed(Struct, frozen=True, forbid_unknown_fields=True):
    """The subscription's id, and the id of the scene as it is now."""

    subscription: str
    scene_id: int


class Annotation(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that a model saw, without an id."""

    kind: Annotated[str, Meta(max_length=100)]
    desc: Annotated[str, Meta(max_length=1000)]
    bbox: Rect


class SceneAnnotate(Struct, frozen=True, tag="scene_annotate", forbid_unknown_fields=True):
    """Set `vlm_scene` and `vlm_elements` of `display`; they are carried forward until what they are about changes: an
    element until a pixel tile under it does, the sentence until more than a fifth of the display did.

    None keeps what was set before; "" takes the sentence back; an empty list means that a model saw nothing. Boxes are
    pixels of the display. `scene_id`: the scene they are about (0: the display as it is now); what changed since then
    is dropped at once. With `ask` the vision backend of that name ("auto": the configured one) is asked for them
    instead; one that is not on this machine sees a redacted picture.
    """

    display: str = ""
    vlm_scene: Annotated[str, Meta(max_length=4000)] | None = None
    vlm_elements: Annotated[tuple[Annotation, ...], Meta(max_length=500)] | None = None
    scene_id: Annotated[int, Meta(ge=0)] = 0
    ask: Annotated[str, Meta(max_length=64)] = ""
    task_id: Annotated[str, Meta(max_length=64)] = ""


class SceneAnnotated(Struct, frozen=True, forbid_unknown_fields=True):
    """The annotations now, with ids `v<display>-<n>`. `model`: the model that was asked, and its cost (None: not
    known). `left_out`: elements that the model placed outside the picture.
    """

    scene_id: int
    vlm_scene: str | None
    vlm_elements: tuple[VlmElement, ...] | None
    model: str = ""
    cost_usd: float | None = 0.0
    left_out: int = 0


_READ_S = 90.0
"""A display is read in a second or two; eight at once by one engine take their turn."""
COMMANDS = (
    Command(
        SceneGet,
        SceneReply,
        deferred=True,
        limit_s=_READ_S,
        positional=2,
        errors="NotFound for a target that is not there",
        feature="scene",
    ),
    Command(SceneSubscribe, SceneSubscribed, positional=1, feature="scene"),
    Command(
        SceneAnnotate,
        SceneAnnotated,
        deferred=True,
        limit_s=SEARCH_S,
        positional=3,
        errors=(
            "InvalidRequest for a box outside the display; "
            "NotFound for a scene that is forgotten and an unknown backend; "
            "Unavailable when that gives no answer that can be used"
        ),
        feature="scene",
    ),
)
