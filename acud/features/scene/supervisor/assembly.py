"""Assembles one scene from the elements, windows and processes of each display, and selects a part of a scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from acud.base.clock import Clock
from acud.features.scene.annotations import DisplayAnnotation, join_annotations, select_sentences
from acud.features.scene.supervisor.display_reader import DisplayElements
from acud.supervisor.displays import proc_files
from acud.supervisor.frame_sources import Source
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, WindowInfo
from acud.types.scene import (
    FocusedWindow,
    Redacted,
    Scene,
    SceneApp,
    SceneDisplay,
    SceneMode,
    SceneTruncation,
    SceneWindow,
    VlmElement,
    global_bounds,
)

NAMELESS = "unknown"

Quote = Callable[[WatchedDisplay, WindowInfo], str]
"""Returns a window's title, redacted."""


class DisplayPrograms:
    """The processes on managed displays: all that carry a display's mark, searched at most every `every_s` seconds.

    A search of /proc takes tens of µs a process.
    """

    def __init__(self, clock: Clock, own: Callable[[], set[int]], every_s: float = 2.0) -> None:
        self._now = clock.monotonic_s
        self._own = own
        self._every_s = every_s
        self._at_s = float("-inf")
        self._found: dict[str, tuple[int, ...]] = {}

    def find_pids(self, folder: str) -> tuple[int, ...]:
        """Return the processes of the display in `folder`, without those of the display itself."""
        if self._now() - self._at_s > self._every_s:
            self._at_s = self._now()
            self._found = _group_by_folder(proc_files.find_marked(), self._own())
        return self._found.get(folder, ())


def _group_by_folder(marked: Mapping[int, str], own: set[int]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for pid, folder in marked.items():
        if pid not in own:
            found.setdefault(folder, []).append(pid)
    return {folder: tuple(sorted(pids)) for folder, pids in found.items()}


class ShownDisplay(NamedTuple):
    """A display, and the ids of its processes."""

    watched: WatchedDisplay
    pids: Sequence[int] = ()


def make_apps(shown: Iterable[ShownDisplay], quote: Quote) -> tuple[SceneApp, ...]:
    """Return the processes of each display, those with windows first, topmost first; pid 0 has the windows that name no
    process. No entry spans displays: a client may see only one of them.
    """
    by_display = [(_list_windowed_apps(one, quote), one) for one in shown]
    found = [app for windowed, _ in by_display for app in windowed]
    return (
        *found,
        *(app for windowed, one in by_display for app in _list_windowless_apps(one, {app.pid for app in windowed})),
    )


def _list_windowed_apps(one: ShownDisplay, quote: Quote) -> list[SceneApp]:
    windows: dict[int, list[SceneWindow]] = {}
    names: dict[int, str] = {}
    for stacking, window in enumerate(one.watched.windows):
        windows.setdefault(window.pid, []).append(_make_window(one.watched, window, stacking, quote))
        names.setdefault(window.pid, window.wm_class)
    return [
        SceneApp(_find_name(pid, names[pid]), pid, tuple(found), one.watched.number) for pid, found in windows.items()
    ]


def _list_windowless_apps(one: ShownDisplay, shown: set[int]) -> Iterable[SceneApp]:
    named = ((proc_files.comm(pid), pid) for pid in one.pids if pid not in shown)
    return (SceneApp(name, pid, (), one.watched.number) for name, pid in named if name)


def find_focused_window(watched: WatchedDisplay, quote: Quote) -> FocusedWindow | None:
    """Return the window that has the display's input focus by the X server, or None."""
    window = next((one for one in watched.windows if one.window_id == watched.focused), None)
    if window is None or not watched.focused:
        return None
    name = _find_name(window.pid, window.wm_class)
    return FocusedWindow(name, window.pid or None, window.bounds, quote(watched, window), watched.number)


def _find_name(pid: int, wm_class: str) -> str:
    return (proc_files.comm(pid) if pid else "") or wm_class or NAMELESS


def _make_window(watched: WatchedDisplay, window: WindowInfo, stacking: int, quote: Quote) -> SceneWindow:
    return SceneWindow(
        id=f"{window.window_id:#x}",
        title=quote(watched, window),
        bounds=window.bounds,
        display_id=watched.number,
        stacking=stacking,
        visibility=window.visibility,
        kind=window.kind,
        hides_screen=window.hides_screen,
    )


_STARTING = "its first frame is to come"


class Moment(NamedTuple):
    """When and why a scene is made. `now_s`: monotonic clock; `utc_ms`: milliseconds since the epoch."""

    now_s: float
    utc_ms: int
    mode: SceneMode


class DisplayFacts(NamedTuple):
    """One display. `focus`: the focused window. `titles`: redacted titles. `annotation`: the valid one."""

    watched: WatchedDisplay
    source: Source | None
    seen: DisplayElements
    is_default: bool
    focus: FocusedWindow | None
    titles: tuple[Redacted, ...] = ()
    annotation: DisplayAnnotation = DisplayAnnotation()


def assemble_scene(scene_id: int, moment: Moment, known: Sequence[DisplayFacts], apps: tuple[SceneApp, ...]) -> Scene:
    annotation = join_annotations([(one.watched.number, one.annotation) for one in known])
    displays = tuple(_make_display(one, moment.now_s) for one in known)
    texts = tuple(text for one in known for text in one.seen.texts)
    widgets = tuple(widget for one in known for widget in one.seen.widgets)
    return Scene(
        scene_id=scene_id,
        timestamp=moment.utc_ms,
        reason=moment.mode,
        displays=displays,
        focused_window=_choose_focus(displays),
        apps=apps,
        ocr=texts,
        ax=widgets,
        vlm_scene=annotation.vlm_scene,
        vlm_elements=annotation.vlm_elements,
        providers=tuple(one.seen.providers for one in known),
        redactions=tuple(found for one in known for found in (*one.titles, *one.seen.redactions)),
        truncation=_sum_truncation(displays, len(texts), len(widgets)),
    )


def _choose_focus(displays: Sequence[SceneDisplay]) -> FocusedWindow | None:
    """Return the focused window of the default display, or of the first that has one: each X server has its own."""
    ordered = sorted(displays, key=lambda one: not one.primary)
    return next((one.focused_window for one in ordered if one.focused_window is not None), None)


def _make_display(known: DisplayFacts, now_s: float) -> SceneDisplay:
    watched, source, seen = known.watched, known.source, known.seen
    is_up = watched.state is DisplayState.UP
    size = (source.width, source.height) if source is not None and is_up else (0, 0)
    return SceneDisplay(
        id=watched.number,
        bounds=global_bounds(watched.number, *size),
        scale_factor=watched.scale_factor,
        primary=known.is_default,
        name=watched.name,
        state=watched.state.value,
        reason=watched.reason or ("" if is_up else _STARTING),
        epoch=seen.epoch,
        frame=seen.frame,
        frame_age_s=round(max(0.0, now_s - seen.frame_mono_s), 3) if seen.frame else 0.0,
        monitors=tuple((monitor.name, monitor.bounds) for monitor in watched.monitors),
        change=seen.change,
        focused_window=known.focus,
        truncation=_count_cut(seen),
        notifications=watched.notifications,
    )


def _count_cut(seen: DisplayElements) -> SceneTruncation | None:
    ocr = seen.totals["ocr"], len(seen.texts)
    ax = seen.totals["ax"], len(seen.widgets)
    if ocr[0] <= ocr[1] and ax[0] <= ax[1] and not seen.cut:
        return None
    return SceneTruncation(ocr if ocr[0] > ocr[1] else None, ax if ax[0] > ax[1] or seen.cut else None, None, seen.cut)


def _sum_truncation(displays: Sequence[SceneDisplay], texts: int, widgets: int) -> SceneTruncation | None:
    """Return what is left out of these displays together, which show so many texts and widgets."""
    cuts = [one.truncation for one in displays if one.truncation is not None]
    if not cuts:
        return None
    ocr = [cut.ocr for cut in cuts if cut.ocr is not None]
    ax = [cut.ax for cut in cuts if cut.ax is not None]
    return SceneTruncation(
        (texts + sum(were - are for were, are in ocr), texts) if ocr else None,
        (widgets + sum(were - are for were, are in ax), widgets) if ax else None,
        None,
        "; ".join(sorted({cut.reason for cut in cuts if cut.reason})),
    )


def select_displays(scene: Scene, ids: frozenset[int]) -> Scene:
    kept = frozenset(one.id for one in scene.displays) & ids
    displays = tuple(one for one in scene.displays if one.id in kept)
    apps = tuple(app for app in scene.apps if app.display_id in kept)
    texts = tuple(one for one in scene.ocr if one.display_id in kept)
    widgets = tuple(one for one in scene.ax if one.display_id in kept)
    elements = {one.id for one in texts} | {one.id for one in widgets}
    windows = {window.id for app in apps for window in app.windows}
    return replace(
        scene,
        displays=displays,
        focused_window=_choose_focus(displays),
        apps=apps,
        ocr=texts,
        ax=widgets,
        vlm_scene=select_sentences(scene.vlm_scene, [one.id for one in scene.displays], kept),
        vlm_elements=_select_vlm_elements(scene, kept),
        providers=tuple(one for one in scene.providers if one.display_id in kept),
        redactions=tuple(one for one in scene.redactions if one.where in elements | windows),
        truncation=_sum_truncation(displays, len(texts), len(widgets)),
    )


def _select_vlm_elements(scene: Scene, ids: frozenset[int]) -> tuple[VlmElement, ...] | None:
    found = tuple(one for one in scene.vlm_elements or () if one.display_id in ids)
    return scene.vlm_elements if len(scene.displays) == len(ids) else found or None
