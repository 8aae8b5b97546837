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
    """Set `vlm_scene` and `vlm_elements` of `display`; they are carried forward until what they are about changes.

    With `ask` the vision backend of that name ("auto": the configured one) is asked for them instead.
    """

    display: str = ""
    vlm_scene: Annotated[str, Meta(max_length=4000)] | None = None
    vlm_elements: Annotated[tuple[Annotation, ...], Meta(max_length=500)] | None = None
    ask: str = ""


class SceneAnnotated(Struct, frozen=True, forbid_unknown_fields=True):
    """What stands now, with ids `v<display>-<n>`."""

    scene_id: int
    vlm_scene: str | None
    vlm_elements: tuple[VlmElement, ...] | None
    cost_usd: float | None = 0.0


SPEC = RequestSpec(SceneAnnotate, SceneAnnotated, deferred=True)
