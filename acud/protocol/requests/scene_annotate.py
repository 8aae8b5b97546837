"""`scene_annotate`: say what a vision model makes of a display, or have the configured one say it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.scene.nouns import VlmElement
from acud.types import Rect


class Annotation(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that a model saw, without an id."""

    kind: Annotated[str, Meta(max_length=100)]
    desc: Annotated[str, Meta(max_length=1000)]
    bbox: Rect


class SceneAnnotate(Struct, frozen=True, tag="scene_annotate", forbid_unknown_fields=True):
    """Set `vlm_scene` and `vlm_elements` of `display`; they are carried forward until what they are about changes: an
    element until a pixel tile under it does, the sentence until more than a fifth of the display did.

    None leaves what was said before; "" takes the sentence back; an empty list says that a model saw nothing. Boxes are
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
    """What stands now, with ids `v<display>-<n>`. `model`: who was asked, at what cost (None: not known). `left_out`:
    elements that the model placed outside the picture.
    """

    scene_id: int
    vlm_scene: str | None
    vlm_elements: tuple[VlmElement, ...] | None
    model: str = ""
    cost_usd: float | None = 0.0
    left_out: int = 0


SPEC = RequestSpec(SceneAnnotate, SceneAnnotated, deferred=True)
