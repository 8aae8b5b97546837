"""A part of a scene: one element with what is in it, one window, or the windows of one application."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from acud.base.errors import NotFound
from acud.features.scene.elements import find_element, make_gone_error
from acud.features.scene.outline import WindowContents, WindowLines
from acud.types import Rect
from acud.types.scene import AxElement, ElementHandle, OcrElement, Scene, SceneWindow, handle_of

_MOST_TOLD = 12


def narrow_scene(scene: Scene, target: str) -> Scene:
    """Return the part of `scene` for `target`: an element's id, `window:TITLE`, a window's id, words of a title or the
    name of an application; the whole for "" and "screen".

    Raises: NotFound naming the windows that are there.
    """
    if target in ("", "screen"):
        return scene
    handle = handle_of(target)
    return _select_element(scene, handle) if handle is not None else _select_windows(scene, target)


def _select_windows(scene: Scene, target: str) -> Scene:
    wanted = target.removeprefix("window:").strip().casefold()
    every = [(app.name, one) for app in scene.apps for one in app.windows]
    found: list[SceneWindow] = []
    for fits in (_is_named, _contains_words):
        found = found or [one for app, one in every if fits(app, one, wanted)]
    if not found or not wanted:
        titles = "; ".join(f"{one.id} {one.title!r} of {app}" for app, one in every[:_MOST_TOLD])
        raise NotFound(f"no window or application {target!r} in the scene", hint=f"windows: {titles or 'none'}")
    widgets: list[AxElement] = []
    texts: list[OcrElement] = []
    for display in {one.display_id for one in found}:
        places = WindowContents(scene, display)
        for one in found:
            if one.display_id == display:
                inside = places.of(one.id)
                widgets += inside[0]
                texts += inside[1]
    return _keep_elements(scene, found, widgets, texts)


def _is_named(app: str, window: SceneWindow, wanted: str) -> bool:
    return wanted in (window.title.casefold(), window.id, app.casefold())


def _contains_words(app: str, window: SceneWindow, wanted: str) -> bool:
    return wanted in window.title.casefold() or wanted in app.casefold()


def _select_element(scene: Scene, handle: ElementHandle) -> Scene:
    one = find_element(scene, handle)
    if one is None:
        raise make_gone_error(handle, None, scene)
    inside = {one.id}
    for widget in scene.ax:  # parents come first
        if widget.parent in inside:
            inside.add(widget.id)
    places = WindowContents(scene, handle.display_id)
    labels = _find_labels_around(scene, handle.display_id, places, inside)
    widgets = [replace(w, label=labels.get(w.id, w.label)) for w in scene.ax if w.id in inside]
    shown = [text for text in scene.ocr if text.display_id == handle.display_id]
    texts = [
        text for text in shown if text.id == one.id or (not one.offscreen and _is_mostly_inside(text.bbox, one.bbox))
    ]
    windows = [w for app in scene.apps for w in app.windows if w.display_id == handle.display_id]
    around = [w for w in windows if _holds_any(places, w.id, inside)]
    return _keep_elements(scene, around, widgets, texts)


def _holds_any(places: WindowContents, window: str, inside: set[str]) -> bool:
    widgets, texts = places.of(window)
    return any(one.id in inside for one in widgets) or any(one.id in inside for one in texts)


def _find_labels_around(scene: Scene, display_id: int, places: WindowContents, inside: set[str]) -> dict[str, str]:
    """Return the labels beside the widgets `inside`, by id, from texts that may not be selected themselves."""
    windows = [w.id for app in scene.apps for w in app.windows if w.display_id == display_id]
    lists = [places.of(window) for window in (*windows, "")]
    return {
        id_: label
        for widgets, texts in lists
        if any(one.id in inside for one in widgets)
        for id_, label in WindowLines(widgets, texts).labels.items()
    }


def _is_mostly_inside(box: Rect, outer: Rect) -> bool:
    common = box.intersect(outer)
    return common is not None and 2 * common.area >= box.area


def _keep_elements(
    scene: Scene, windows: Sequence[SceneWindow], widgets: Sequence[AxElement], texts: Sequence[OcrElement]
) -> Scene:
    ids = {(one.display_id, one.id) for one in windows}
    displays = {display for display, _ in ids} | {w.display_id for w in widgets} | {t.display_id for t in texts}
    kept = [replace(app, windows=tuple(w for w in app.windows if (w.display_id, w.id) in ids)) for app in scene.apps]
    where = {w.id for w in widgets} | {t.id for t in texts} | {one.id for one in windows}
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
