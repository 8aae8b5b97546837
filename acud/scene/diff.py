"""What differs between two scenes: by id, so that a reader who holds the earlier one needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

from acud.scene.nouns import AxElement, DisplayProviders, FocusedWindow, OcrElement, Scene, SceneApp, SceneDisplay

Element = TypeVar("Element", OcrElement, AxElement)
T = TypeVar("T")


class ElementDiff(Struct, Generic[T], frozen=True, forbid_unknown_fields=True):
    """`added` and `changed` as they are now; `gone`: ids."""

    added: tuple[T, ...] = ()
    changed: tuple[T, ...] = ()
    gone: tuple[str, ...] = ()


class SceneDiff(Struct, frozen=True, forbid_unknown_fields=True):
    """From scene `since` to `scene_id`. A part that is None did not change; lists other than of elements come whole."""

    scene_id: int
    since: int
    timestamp: int
    ocr: ElementDiff[OcrElement]
    ax: ElementDiff[AxElement]
    displays: tuple[SceneDisplay, ...] | None = None
    focused_window: FocusedWindow | None = None
    focus_lost: bool = False
    apps: tuple[SceneApp, ...] | None = None
    providers: tuple[DisplayProviders, ...] | None = None
    vlm_changed: bool = False


def diff(before: Scene, now: Scene) -> SceneDiff:
    """Return what changed from `before` to `now`. What only ages (a display's frame, its age) is no change."""
    focus_moved = before.focused_window != now.focused_window
    return SceneDiff(
        scene_id=now.scene_id,
        since=before.scene_id,
        timestamp=now.timestamp,
        ocr=_elements(before.ocr, now.ocr),
        ax=_elements(before.ax, now.ax),
        displays=now.displays if _lasting(before) != _lasting(now) else None,
        focused_window=now.focused_window if focus_moved else None,
        focus_lost=focus_moved and now.focused_window is None,
        apps=now.apps if before.apps != now.apps else None,
        providers=now.providers if before.providers != now.providers else None,
        vlm_changed=(before.vlm_scene, before.vlm_elements) != (now.vlm_scene, now.vlm_elements),
    )


def is_same(before: Scene, now: Scene) -> bool:
    """Tell whether `now` shows nothing that `before` did not."""
    found = diff(before, now)
    empty = ElementDiff[OcrElement](), ElementDiff[AxElement]()
    quiet = found.displays is None and found.apps is None and found.providers is None and not found.vlm_changed
    same_focus = before.focused_window == now.focused_window
    return (found.ocr, found.ax) == empty and quiet and same_focus and before.redactions == now.redactions


def applied(before: Scene, change: SceneDiff) -> tuple[tuple[OcrElement, ...], tuple[AxElement, ...]]:
    """Return texts and widgets of the scene that `change` leads to, in no certain order: what a reader would hold."""
    return _applied(before.ocr, change.ocr), _applied(before.ax, change.ax)


def _applied(before: Sequence[Any], change: ElementDiff[Any]) -> tuple[Any, ...]:
    renewed = {one.id for one in change.changed}
    kept = [one for one in before if one.id not in change.gone and one.id not in renewed]
    return (*kept, *change.changed, *change.added)


def _lasting(scene: Scene) -> list[tuple[object, ...]]:
    return [
        (d.id, d.bounds, d.name, d.state, d.reason, d.monitors, d.primary, d.epoch, d.focused_window, d.truncation)
        for d in scene.displays
    ]


def _elements(before: Sequence[Element], now: Sequence[Element]) -> ElementDiff[Element]:
    earlier: Mapping[str, Element] = {one.id: one for one in before}
    present = {one.id for one in now}
    return ElementDiff(
        added=tuple(one for one in now if one.id not in earlier),
        changed=tuple(one for one in now if one.id in earlier and earlier[one.id] != one),
        gone=tuple(one.id for one in before if one.id not in present),
    )
