"""The elements of a scene: what an id names, where to click it, what a gone id may be, and what a picture marks."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from acud.base.errors import Conflict, NotFound
from acud.features.scene.element_ids import shared
from acud.types import Rect, WindowInfo
from acud.types.scene import AxElement, ElementHandle, ElementMark, OcrElement, Scene

_ALIKE = 0.6
_MOST_TOLD = 5
_WORDS_TOLD = 60


class NamedElement(Struct, frozen=True):
    """What an id names: its words (text, label or description), its place, and whose process it is (0: unknown).

    `offscreen`: it is scrolled out of sight.
    """

    id: str
    words: str
    bbox: Rect
    role: str = ""
    pid: int = 0
    offscreen: bool = False


def elements(scene: Scene, display_id: int) -> list[NamedElement]:
    """Return everything with an id on one display."""
    named = [NamedElement(one.id, one.text, one.bbox, "text") for one in scene.ocr if one.display_id == display_id]
    widgets = [one for one in scene.ax if one.display_id == display_id]
    named += [NamedElement(a.id, a.label, a.bbox, a.role, a.pid, a.offscreen) for a in widgets]
    seen = scene.vlm_elements or ()
    return named + [NamedElement(one.id, one.desc, one.bbox, one.kind) for one in seen if one.display_id == display_id]


def named(scene: Scene, handle: ElementHandle) -> NamedElement | None:
    """Return what the handle names in `scene`, or None when it is not there."""
    return next((one for one in elements(scene, handle.display_id) if one.id == handle.id), None)


def gone(handle: ElementHandle, was: NamedElement | None, scene: Scene) -> NotFound:
    """Return the error for an id that is not in `scene`; `was`: what it named when it was last seen (None: unknown).

    It names what reads the same or alike now, nearest first; `facts["candidates"]` has their ids.
    """
    alike = _alike(was, elements(scene, handle.display_id)) if was is not None else []
    told = f" (it was {_told(was)})" if was is not None else ""
    names = "; ".join(f"{one.id} {_told(one)}" for one in alike)
    hint = f"reads alike now: {names}" if names else "nothing there reads like it: take a new scene (acud scene)"
    return NotFound(
        f"{handle.id} is not on its display any more{told}"
        if was is not None
        else f"{handle.id} names nothing that is there",
        hint=hint,
        candidates=[one.id for one in alike],
    )


def _told(one: NamedElement) -> str:
    words = one.words if len(one.words) <= _WORDS_TOLD else one.words[: _WORDS_TOLD - 1] + "…"
    box = one.bbox
    return f"{words!r} at {box.x},{box.y}"


def _alike(was: NamedElement, now: Sequence[NamedElement]) -> list[NamedElement]:
    def likeness(one: NamedElement) -> float:
        return SequenceMatcher(None, was.words.casefold(), one.words.casefold(), autojunk=False).ratio()

    def apart(one: NamedElement) -> int:
        return abs(one.bbox.x - was.bbox.x) + abs(one.bbox.y - was.bbox.y)

    scored = [(likeness(one), one) for one in now if one.words]
    near = [(one.id[0] != was.id[0], -round(score, 2), apart(one), one) for score, one in scored if score >= _ALIKE]
    return [one for *_, one in sorted(near, key=lambda found: found[:3])][:_MOST_TOLD]


# ---- where it can be clicked ---------------------------------------------------------------------------------------


def visible_part(one: NamedElement, width: int, height: int, windows: Sequence[WindowInfo]) -> Rect:
    """Return the largest box of `one` that can be seen on a display of `width` x `height`; click its middle.

    `windows`: topmost first. What a text or a picture showed was seen, so only widgets can be covered: by the windows
    above the one of their process that they lie in. Raises: Conflict naming what is in the way.
    """
    if one.offscreen:
        raise Conflict(
            f"{one.id} {_told(one)} is scrolled out of sight", hint="scroll its page to it, then use the id again"
        )
    shown = one.bbox.intersect(Rect(0, 0, width, height))
    if shown is None:
        raise Conflict(
            f"{one.id} {_told(one)} lies outside the display, which is {width}x{height}",
            hint="scroll it into view, or move its window",
        )
    above = _above(one, shown, windows)
    parts = uncovered(shown, [window.outside for window in above])
    if not parts:
        titles = ", ".join(repr(window.title) for window in above if window.outside.intersect(shown))
        raise Conflict(
            f"{one.id} {_told(one)} is covered by {titles}", hint="raise its window, or close what covers it"
        )
    return max(parts, key=lambda part: (part.area, -part.y, -part.x))


def uncovered(box: Rect, above: Sequence[Rect]) -> list[Rect]:
    """Return the parts of `box` that the boxes `above` it leave."""
    parts = [box]
    for hole in above:
        parts = [rest for part in parts for rest in _without(part, hole)]
    return parts


def middle(box: Rect) -> tuple[int, int]:
    """Return the pixel in the middle of `box`."""
    return box.x + box.w // 2, box.y + box.h // 2


def _above(one: NamedElement, shown: Rect, windows: Sequence[WindowInfo]) -> list[WindowInfo]:
    mapped = [window for window in windows if window.visibility != "unmapped"]
    own = [n for n, window in enumerate(mapped) if one.pid and window.pid == one.pid]
    whole = [n for n in own if mapped[n].bounds.contains(shown)]
    holding = whole or [n for n in own if mapped[n].bounds.intersect(shown)]
    return mapped[: holding[0]] if holding else []


def _without(part: Rect, hole: Rect) -> list[Rect]:
    """Return `part` without `hole`: the strips above, below, left and right of it, each as long as can be."""
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
    return not widget.offscreen and (bool(widget.actions) or not _USABLE.isdisjoint(widget.states))


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
