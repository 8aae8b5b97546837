"""What a vision model said of a display, and for how long it stands: until the pixels that it is about change. Pure.

An element is dropped with the first exact 16 px tile under it that changes; the sentence about the whole display once
tiles that changed since cover more than a fifth of it. A look at a scene never asks a model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from msgspec import Struct

from acud.features.scene.element_ids import ElementIds, SeenElement
from acud.types import Rect
from acud.types.scene import Remark, VlmElement

SCENE_SHARE = 0.2
"""Part of the display that may change before the sentence about it falls: a caret, a clock or a typed line are far
below it, a new window is above."""


class DisplayAnnotation(Struct, frozen=True):
    """The annotations of one display. None: there are none, or none is valid. The sentence is one line."""

    vlm_scene: str | None = None
    vlm_elements: tuple[VlmElement, ...] | None = None


class ChangedSince(NamedTuple):
    """What changed of a display since something was said of it: the share of its tiles, and whether any under a box."""

    share: float
    touches: Callable[[Rect], bool]


def standing(said: DisplayAnnotation, changed: ChangedSince | None) -> DisplayAnnotation:
    """Return what still holds of `said`. `changed` None: what changed is unknown, so nothing holds.

    When elements were dropped and none is left there is no list: an empty one says that a model saw nothing.
    """
    if changed is None:
        return DisplayAnnotation()
    holds = changed.share <= SCENE_SHARE
    sentence = said.vlm_scene if holds else None
    before = said.vlm_elements
    if before is None:
        return DisplayAnnotation(sentence, None)
    left = tuple(one for one in before if not changed.touches(one.bbox))
    return DisplayAnnotation(sentence, left if left or (holds and not before) else None)


def numbered(remarks: Sequence[Remark], ids: ElementIds, display_id: int) -> tuple[VlmElement, ...]:
    """Return the remarks as elements: one that says the same of the same place keeps the id it had."""
    given = ids.given([SeenElement(one.desc, one.bbox, one.kind) for one in remarks])
    pairs = zip(given, remarks, strict=True)
    return tuple(VlmElement(id_, one.kind, one.desc, one.bbox, display_id) for id_, one in pairs)


def sentences_of(vlm_scene: str | None, displays: Sequence[int], kept: Collection[int]) -> str | None:
    """Return of what `together` made for `displays` the part about those `kept`."""
    if vlm_scene is None or len(displays) < 2:
        return vlm_scene if kept else None
    lines = [line.removeprefix("display ").partition(": ") for line in vlm_scene.split("\n")]
    told = [(int(number), DisplayAnnotation(words)) for number, _, words in lines if int(number) in kept]
    if len(kept) > 1:
        return together(
            [*told, *((number, DisplayAnnotation()) for number in kept if number not in dict(told))]
        ).vlm_scene
    return told[0][1].vlm_scene if told else None


def together(said: Sequence[tuple[int, DisplayAnnotation]]) -> DisplayAnnotation:
    """Return what stands for several displays as one scene has it; sentences then name their displays."""
    sentences = [(display_id, one.vlm_scene) for display_id, one in said if one.vlm_scene is not None]
    lists = [one.vlm_elements for _, one in said if one.vlm_elements is not None]
    if len(said) == 1 and sentences:
        words: str | None = sentences[0][1]
    else:
        words = "\n".join(f"display {display_id}: {told}" for display_id, told in sentences) or None
    return DisplayAnnotation(words, tuple(one for found in lists for one in found) if lists else None)
