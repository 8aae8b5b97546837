"""A vision model's description of a display, valid until the pixels that it describes change. Pure.

An element is dropped once a 16 px tile under it changes; the sentence about the whole display once tiles that changed
since cover more than a fifth of it. A look at a scene never asks a model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from msgspec import Struct

from acud.features.scene.element_ids import ElementIds, SeenElement
from acud.types import Rect
from acud.types.scene import Remark, VlmElement

SCENE_SHARE = 0.2
"""Part of the display that may change before its sentence is dropped: a caret, a clock or a typed line stay far below
it, a new window exceeds it."""


class DisplayAnnotation(Struct, frozen=True):
    """The annotations of one display. None: there are none, or none is valid. The sentence is one line."""

    vlm_scene: str | None = None
    vlm_elements: tuple[VlmElement, ...] | None = None


class ChangedSince(NamedTuple):
    """Changes of a display since it was described: the share of its tiles, and whether any tile under a box changed."""

    share: float
    touches: Callable[[Rect], bool]


def drop_outdated(before: DisplayAnnotation, changed: ChangedSince | None) -> DisplayAnnotation:
    """Return what is still valid of `before`. `changed` None: the changes are unknown, so nothing is.

    When every element was dropped the list is None: an empty one means that a model saw none.
    """
    if changed is None:
        return DisplayAnnotation()
    holds = changed.share <= SCENE_SHARE
    sentence = before.vlm_scene if holds else None
    elements = before.vlm_elements
    if elements is None:
        return DisplayAnnotation(sentence, None)
    left = tuple(one for one in elements if not changed.touches(one.bbox))
    return DisplayAnnotation(sentence, left if left or (holds and not elements) else None)


def number_remarks(remarks: Sequence[Remark], ids: ElementIds, display_id: int) -> tuple[VlmElement, ...]:
    """Return the remarks as elements; one with the same words and place as before keeps its id."""
    given = ids.assign([SeenElement(one.desc, one.bbox, one.kind) for one in remarks])
    pairs = zip(given, remarks, strict=True)
    return tuple(VlmElement(id_, one.kind, one.desc, one.bbox, display_id) for id_, one in pairs)


def select_sentences(vlm_scene: str | None, displays: Sequence[int], kept: Collection[int]) -> str | None:
    """Return the part about the displays `kept` of a `vlm_scene` that `join_annotations` made for `displays`."""
    if vlm_scene is None or len(displays) < 2:
        return vlm_scene if kept else None
    lines = [line.removeprefix("display ").partition(": ") for line in vlm_scene.split("\n")]
    found = {int(number): words for number, _, words in lines if int(number) in kept}
    return join_annotations([(n, DisplayAnnotation(found.get(n))) for n in displays if n in kept]).vlm_scene


def join_annotations(annotations: Sequence[tuple[int, DisplayAnnotation]]) -> DisplayAnnotation:
    """Return the annotations of several displays as one; each sentence then names its display."""
    sentences = [(display_id, one.vlm_scene) for display_id, one in annotations if one.vlm_scene is not None]
    lists = [one.vlm_elements for _, one in annotations if one.vlm_elements is not None]
    if len(annotations) == 1 and sentences:
        words: str | None = sentences[0][1]
    else:
        words = "\n".join(f"display {display_id}: {sentence}" for display_id, sentence in sentences) or None
    return DisplayAnnotation(words, tuple(one for found in lists for one in found) if lists else None)
