"""The elements of a scene: what an id names, where to click it, what a gone id may be, and which ones get marks."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from acud.base.errors import Conflict, NotFound
from acud.features.scene.element_ids import compute_overlap
from acud.features.scene.widget_words import plain
from acud.types import Rect, WindowInfo
from acud.types.scene import AxElement, ElementHandle, ElementMark, OcrElement, Scene

_ALIKE = 0.6
_MOST_TOLD = 5
_WORDS_TOLD = 60


class NamedElement(Struct, frozen=True):
    """What an id names: its words (text, label or description), its place and its process (0: unknown).

    `offscreen`: it is scrolled out of sight.
    """

    id: str
    words: str
    bbox: Rect
    role: str = ""
    pid: int = 0
    offscreen: bool = False


def list_elements(scene: Scene, display_id: int) -> list[NamedElement]:
    named = [NamedElement(one.id, one.text, one.bbox, "text") for one in scene.ocr if one.display_id == display_id]
    widgets = [one for one in scene.ax if one.display_id == display_id]
    named += [NamedElement(a.id, a.label, a.bbox, a.role, a.pid, a.offscreen) for a in widgets]
    seen = scene.vlm_elements or ()
    return named + [NamedElement(one.id, one.desc, one.bbox, one.kind) for one in seen if one.display_id == display_id]


def find_element(scene: Scene, handle: ElementHandle) -> NamedElement | None:
    return next((one for one in list_elements(scene, handle.display_id) if one.id == handle.id), None)


def make_gone_error(handle: ElementHandle, was: NamedElement | None, scene: Scene) -> NotFound:
    """Return the error for an id that is not in `scene`. `was`: what it named when last seen (None: unknown).

    The error names elements with similar words, nearest first; `facts["candidates"]` has their ids.
    """
    alike = _find_alike(was, list_elements(scene, handle.display_id)) if was is not None else []
    names = "; ".join(map(_describe_element, alike))
    hint = f"reads alike now: {names}" if names else "nothing there reads like it: take a new scene (acud scene)"
    return NotFound(
        f"{handle.id} is not on its display any more (it was {_describe_place(was)})"
        if was is not None
        else f"{handle.id} names nothing that is there",
        hint=hint,
        candidates=[one.id for one in alike],
    )


def _describe_element(one: NamedElement) -> str:
    return f"{one.id} {_describe_place(one)}"


def _describe_place(one: NamedElement) -> str:
    words = one.words if len(one.words) <= _WORDS_TOLD else one.words[: _WORDS_TOLD - 1] + "…"
    box = one.bbox
    return f"{words!r} at {box.x},{box.y}"


def _measure_likeness(one: NamedElement, other: NamedElement) -> float:
    return SequenceMatcher(None, one.words.casefold(), other.words.casefold(), autojunk=False).ratio()


def _find_alike(was: NamedElement, now: Sequence[NamedElement]) -> list[NamedElement]:
    scored = [(_measure_likeness(was, one), one) for one in now if one.words]
    near = [
        (one.id[0] != was.id[0], -round(score, 2), abs(one.bbox.x - was.bbox.x) + abs(one.bbox.y - was.bbox.y), one)
        for score, one in scored
        if score >= _ALIKE
    ]
    return [one for *_, one in sorted(near, key=lambda found: found[:3])][:_MOST_TOLD]


def visible_part(one: NamedElement, width: int, height: int, windows: Sequence[WindowInfo]) -> Rect:
    """Return the largest visible box of `one` on a display of `width` x `height` pixels; click its middle.

    `windows`: topmost first. Texts and elements of a model were seen in pixels, so only widgets can be covered: by the
    windows above the one of their process that they lie in. Raises: Conflict naming what is in the way.
    """
    name = _describe_element(one)
    if one.offscreen:
        raise Conflict(f"{name} is scrolled out of sight", hint="scroll its page to it, then use the id again")
    shown = one.bbox.intersect(Rect(0, 0, width, height))
    if shown is None:
        raise Conflict(
            f"{name} lies outside the display, which is {width}x{height}",
            hint="scroll it into view, or move its window",
        )
    above = _find_windows_above(one, shown, windows)
    parts = subtract_boxes(shown, [window.outside for window in above])
    if not parts:
        titles = ", ".join(repr(window.title) for window in above if window.outside.intersect(shown))
        raise Conflict(f"{name} is covered by {titles}", hint="raise its window, or close what covers it")
    return max(parts, key=lambda part: (part.area, -part.y, -part.x))


def subtract_boxes(box: Rect, above: Sequence[Rect]) -> list[Rect]:
    parts = [box]
    for hole in above:
        parts = [rest for part in parts for rest in _subtract_box(part, hole)]
    return parts


def find_middle(box: Rect) -> tuple[int, int]:
    return box.x + box.w // 2, box.y + box.h // 2


def _find_windows_above(one: NamedElement, shown: Rect, windows: Sequence[WindowInfo]) -> list[WindowInfo]:
    mapped = [window for window in windows if window.visibility != "unmapped"]
    own = [n for n, window in enumerate(mapped) if one.pid and window.pid == one.pid]
    whole = [n for n in own if mapped[n].bounds.contains(shown)]
    holding = whole or [n for n in own if mapped[n].bounds.intersect(shown)]
    return mapped[: holding[0]] if holding else []


def _subtract_box(part: Rect, hole: Rect) -> list[Rect]:
    """Return `part` without `hole`: the strips above, below, left and right of it."""
    cut = part.intersect(hole)
    if cut is None:
        return [part]
    strips = (
        Rect(part.x, part.y, part.w, cut.y - part.y),
        Rect(part.x, cut.bottom, part.w, part.bottom - cut.bottom),
        Rect(part.x, part.y, cut.x - part.x, part.h),
        Rect(cut.right, part.y, part.right - cut.right, part.h),
    )
    return [strip for strip in strips if strip.w > 0 and strip.h > 0]


MAX_MARKS = 250
"""With more, marks on 1280x720 hide each other."""
_USABLE = frozenset({"focusable", "editable", "selectable", "checkable", "expandable"})
_BACKGROUND = 0.5
"""A widget that covers more of its display than this is background."""
_SAME = 0.6


class Marks(Struct, frozen=True):
    """The marks, and how many elements got none for want of room."""

    marks: tuple[ElementMark, ...]
    left_out: int


def choose_marks(scene: Scene, display_id: int, limit: int = MAX_MARKS) -> Marks:
    """Return the marks of one display: controls, then elements of a model, then texts, surest first.

    A text in a marked widget that repeats its label gets none, nor does an element of a model where another is marked.
    """
    display = next((one for one in scene.displays if one.id == display_id), None)
    whole = Rect(0, 0, display.bounds.w, display.bounds.h) if display else Rect(0, 0, 0, 0)
    widgets = [one for one in scene.ax if one.display_id == display_id and _can_act(one) and _is_part(one.bbox, whole)]
    texts = [one for one in scene.ocr if one.display_id == display_id and whole.intersect(one.bbox)]
    texts = [one for one in texts if not any(_repeats_widget(one, widget) for widget in widgets)]
    marks = [ElementMark(one.id, "widget", one.bbox) for one in widgets]
    marks += _list_seen_marks(scene, display_id, whole, [*(one.bbox for one in widgets), *(one.bbox for one in texts)])
    marks += [ElementMark(one.id, "text", one.bbox) for one in sorted(texts, key=lambda one: -one.conf)]
    return Marks(tuple(marks[:limit]), max(0, len(marks) - limit))


def _can_act(widget: AxElement) -> bool:
    return not widget.offscreen and (bool(widget.actions) or not _USABLE.isdisjoint(widget.states))


def _is_part(box: Rect, whole: Rect) -> bool:
    inside = box.intersect(whole)
    return inside is not None and inside.area <= whole.area * _BACKGROUND


def _repeats_widget(text: OcrElement, widget: AxElement) -> bool:
    inside = text.bbox.intersect(widget.bbox)
    if inside is None or inside.area * 2 < text.bbox.area:
        return False
    words, label = plain(text.text), plain(widget.label)
    return bool(words) and bool(label) and (words in label or label in words)


def _list_seen_marks(scene: Scene, display_id: int, whole: Rect, others: Sequence[Rect]) -> list[ElementMark]:
    return [
        ElementMark(one.id, "seen", one.bbox)
        for one in scene.vlm_elements or ()
        if one.display_id == display_id
        and _is_part(one.bbox, whole)
        and not any(compute_overlap(one.bbox, box) >= _SAME for box in others)
    ]
