"""A part of a scene: one element with what is in it, one window, or the windows of one application."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from acud.errors import NotFound
from acud.features.scene.elements import gone, named
from acud.features.scene.outline import ElementPlaces
from acud.types import Rect
from acud.types.scene import AxElement, ElementHandle, OcrElement, Scene, SceneWindow, handle_of

_MOST_TOLD = 12


def narrowed(scene: Scene, target: str) -> Scene:
    """Return what `scene` shows of `target`: an element's id, `window:TITLE`, a window's id, or words of a title or the
    name of an application. "" and "screen": everything.

    Raises: NotFound naming the windows that are there.
    """
    if target in ("", "screen"):
        return scene
    handle = handle_of(target)
    return _of_element(scene, handle) if handle is not None else _of_windows(scene, target)


def _of_windows(scene: Scene, target: str) -> Scene:
    wanted = target.removeprefix("window:").strip().casefold()
    every = [(app.name, one) for app in scene.apps for one in app.windows]
    found: list[SceneWindow] = []
    for fits in (_is_it, _holds_it):
        found = found or [one for app, one in every if fits(app, one, wanted)]
    if not found or not wanted:
        titles = "; ".join(f"{one.id} {one.title!r} of {app}" for app, one in every[:_MOST_TOLD])
        raise NotFound(f"no window or application {target!r} in the scene", hint=f"windows: {titles or 'none'}")
    widgets: list[AxElement] = []
    texts: list[OcrElement] = []
    for display in {one.display_id for one in found}:
        places = ElementPlaces(scene, display)
        for one in found:
            if one.display_id == display:
                inside = places.of(one.id)
                widgets += inside[0]
                texts += inside[1]
    return _part(scene, found, widgets, texts)


def _is_it(app: str, window: SceneWindow, wanted: str) -> bool:
    return wanted in (window.title.casefold(), window.id, app.casefold())


def _holds_it(app: str, window: SceneWindow, wanted: str) -> bool:
    return wanted in window.title.casefold() or wanted in app.casefold()


def _of_element(scene: Scene, handle: ElementHandle) -> Scene:
    one = named(scene, handle)
    if one is None:
        raise gone(handle, None, scene)
    inside = {one.id}
    for widget in scene.ax:  # parents come first
        if widget.parent in inside:
            inside.add(widget.id)
    widgets = [widget for widget in scene.ax if widget.id in inside]
    shown = [text for text in scene.ocr if text.display_id == handle.display_id]
    texts = [text for text in shown if text.id == one.id or (not one.offscreen and _lies_in(text.bbox, one.bbox))]
    places = ElementPlaces(scene, handle.display_id)
    windows = [w for app in scene.apps for w in app.windows if w.display_id == handle.display_id]
    around = [w for w in windows if any(part.id in inside for some in places.of(w.id) for part in some)]
    return _part(scene, around, widgets, texts)


def _lies_in(box: Rect, outer: Rect) -> bool:
    common = box.intersect(outer)
    return common is not None and 2 * common.area >= box.area


def _part(
    scene: Scene, windows: Sequence[SceneWindow], widgets: Sequence[AxElement], texts: Sequence[OcrElement]
) -> Scene:
    ids = {(one.display_id, one.id) for one in windows}
    displays = {one.display_id for one in (*windows, *widgets, *texts)}
    kept = [replace(app, windows=tuple(w for w in app.windows if (w.display_id, w.id) in ids)) for app in scene.apps]
    where = {one.id for one in (*widgets, *texts)} | {one.id for one in windows}
    return replace(
        scene,
        displays=tuple(one for one in scene.displays if one.id in displays),
        apps=tuple(app for app in kept if app.windows),
        ocr=tuple(texts),
        ax=tuple(widgets),
        vlm_scene=None,
        vlm_elements=None,
        providers=tuple(one for one in scene.providers if one.display_id in displays),
        redactions=tuple(one for one in scene.redactions if one.where in where),
    )
