"""Which elements of a scene are marked on its picture: what can be acted on, and what can be read, each once. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from acud.features.scene.element_ids import shared
from acud.types import Rect
from acud.types.scene import AxElement, ElementMark, OcrElement, Scene

MAX_MARKS = 250
"""More cannot be told apart on 1280x720."""
_USABLE = frozenset({"focusable", "editable", "selectable", "checkable", "expandable"})
_BACKGROUND = 0.5
"""A widget that covers more of its display than this is what things stand on."""
_SAME = 0.6


class Marks(Struct, frozen=True):
    """What is marked, and how many elements were left out for want of room."""

    marks: tuple[ElementMark, ...]
    left_out: int


def marks_of(scene: Scene, display_id: int, limit: int = MAX_MARKS) -> Marks:
    """Return the marks of one display: widgets that can be acted on, then what a model saw, then texts, surest first.

    A text that only repeats the label of a marked widget it lies in, and an element a model saw where another is
    marked, get none of their own.
    """
    display = next((one for one in scene.displays if one.id == display_id), None)
    whole = Rect(0, 0, display.bounds.w, display.bounds.h) if display else Rect(0, 0, 0, 0)
    widgets = [one for one in scene.ax if one.display_id == display_id and _can_act(one) and _fits(one.bbox, whole)]
    texts = [one for one in scene.ocr if one.display_id == display_id and whole.intersect(one.bbox)]
    texts = [one for one in texts if not any(_repeats(one, widget) for widget in widgets)]
    marks = [ElementMark(one.id, "widget", one.bbox) for one in widgets]
    marks += _seen(scene, display_id, whole, [*(one.bbox for one in widgets), *(one.bbox for one in texts)])
    marks += [ElementMark(one.id, "text", one.bbox) for one in sorted(texts, key=lambda one: -one.conf)]
    return Marks(tuple(marks[:limit]), max(0, len(marks) - limit))


def _can_act(widget: AxElement) -> bool:
    return bool(widget.actions) or not _USABLE.isdisjoint(widget.states)


def _fits(box: Rect, whole: Rect) -> bool:
    inside = box.intersect(whole)
    return inside is not None and inside.area <= whole.area * _BACKGROUND


def _repeats(text: OcrElement, widget: AxElement) -> bool:
    inside = text.bbox.intersect(widget.bbox)
    if inside is None or inside.area * 2 < text.bbox.area:
        return False
    words, label = _plain(text.text), _plain(widget.label)
    return bool(words) and bool(label) and (words in label or label in words)


def _plain(words: str) -> str:
    return "".join(character for character in words.casefold() if character.isalnum())


def _seen(scene: Scene, display_id: int, whole: Rect, others: Sequence[Rect]) -> list[ElementMark]:
    return [
        ElementMark(one.id, "seen", one.bbox)
        for one in scene.vlm_elements or ()
        if one.display_id == display_id
        and _fits(one.bbox, whole)
        and not any(shared(one.bbox, box) >= _SAME for box in others)
    ]
