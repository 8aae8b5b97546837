"""The scene: one compact, truthful picture of what is on the displays, with stable ids; and what differs between two.

Field names on the wire are the seed's (`displayId`, `scaleFactor`). Boxes are `[x, y, w, h]` in pixels of the element's
own display. A part that could not be read is never just an empty list: `providers` has what failed, and why.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Generic, Literal, TypeVar

from msgspec import Struct

from acud.base.errors import NotFound
from acud.types import DisplayNotification, Rect

_NAMES = {"display_id": "displayId", "scale_factor": "scaleFactor"}


class SceneMode(StrEnum):
    """How much a tick reads: `idle` reuses everything while nothing changed, `active` reads what changed, `agent-turn`
    reads everything again, even on identical frames. A later mode is the stronger one.
    """

    IDLE = "idle"
    ACTIVE = "active"
    AGENT_TURN = "agent-turn"


class SceneDisplay(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """A display. `id`: the store's number, never reused. `bounds` are global: where `local_to_global` puts its pixels.

    `state`: `up`, or why nothing is known (`reason`). `frame`: the newest frame in this scene, `frame_age_s` its age at
    the scene's time. `monitors`: RANDR's views of it, in its own pixels. `focused_window`: the window with the input
    focus (each X server has its own). `truncation`: what was left out of this display's lists. `scale_factor`: how much
    larger than plain pixels its programs draw, by its XSETTINGS or its resource Xft.dpi (1: neither is set).
    `notifications`: those that are open.
    """

    id: int
    bounds: Rect
    scale_factor: float = 1.0
    primary: bool = False
    name: str = ""
    state: str = "up"
    reason: str = ""
    epoch: int = 0
    frame: int = 0
    frame_age_s: float = 0.0
    monitors: tuple[tuple[str, Rect], ...] = ()
    change: ChangeTiers | None = None
    focused_window: FocusedWindow | None = None
    truncation: SceneTruncation | None = None
    notifications: tuple[DisplayNotification, ...] = ()


class ChangeTiers(Struct, frozen=True, forbid_unknown_fields=True):
    """How the frame differs from the one of the scene before, tier by tier; None where there was nothing to compare.

    `tiles`: changed 16x16 px tiles, exact. `dhash`: 16 hexadecimal digits; `dhash_distance`: differing bits (5 counts
    as changed). `blocks`: dirty ones of the 16 x 16 grid, by their corner lumas. `ssim`: 1 for equal frames.
    """

    tiles: int
    dhash: str = ""
    dhash_distance: int | None = None
    blocks: int | None = None
    ssim: float | None = None


class FocusedWindow(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """The window that has the input focus, by the X server."""

    app: str
    pid: int | None
    bounds: Rect
    title: str
    display_id: int


class SceneWindow(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """A window. `id`: its X id in `0x` form. `stacking`: its place on its display, 0 is topmost. `visibility`, `kind`,
    `hides_screen`: as in WindowInfo.
    """

    id: str
    title: str
    bounds: Rect
    display_id: int
    stacking: int = 0
    visibility: Literal["full", "covered", "unmapped"] = "full"
    kind: Literal["normal", "dialog", "popup"] = "normal"
    hides_screen: bool = False


class SceneApp(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """A process on a display with its windows there; pid 0 gathers the windows without a pid."""

    name: str
    pid: int
    windows: tuple[SceneWindow, ...] = ()
    display_id: int = 0


class OcrElement(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """A line of visible text. `id`: `t<display>-<n>`. `conf`: 0 to 1. `words`: each with its box, if the engine
    separates them. `position`: where it is on its display, in thirds (`top-left` … `bottom-right`). `reader`: the
    provider's reader with its languages, if not the first one (`tesseract rus+eng`).
    """

    id: str
    text: str
    bbox: Rect
    conf: float
    display_id: int
    words: tuple[tuple[str, Rect], ...] = ()
    position: str = ""
    reader: str = ""


class AxElement(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """A widget. `id`: `a<display>-<n>`. `secure`: a password field; its text is never read. `value`: what it holds (a
    field's text, a combo box's choice, a slider's number). `parent`: the id of the widget around it ("": none);
    `window`: the id of its window ("": not known). `offscreen`: it is on the page but beyond the window, so that it
    must be scrolled to first; `bbox` is where it would be. `placeholder`: the words in an empty field; a field without
    a name has them as its label too.
    """

    id: str
    role: str
    bbox: Rect
    display_id: int
    label: str = ""
    actions: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    app: str = ""
    pid: int = 0
    secure: bool = False
    value: str = ""
    parent: str = ""
    window: str = ""
    offscreen: bool = False
    placeholder: str = ""


class VlmElement(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """Something a vision model named."""

    id: str
    kind: str
    desc: str
    bbox: Rect
    display_id: int


class ProviderState(Struct, frozen=True, forbid_unknown_fields=True):
    """What read a part of the scene on one display. `incomplete`: something is missing, named in `reason`: what a limit
    left out, an application that did not answer or reports nothing of its window. `stale`: the content was read
    earlier, and kept for the `reason`. `unavailable`: nothing is known. `off`: it did not look.
    """

    name: str
    state: Literal["ready", "incomplete", "stale", "unavailable", "off"]
    reason: str = ""


class DisplayProviders(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """The providers of one display."""

    display_id: int
    ocr: ProviderState
    ax: ProviderState


class Redacted(Struct, frozen=True, forbid_unknown_fields=True):
    """A redaction: in which element (or field), by which rule."""

    where: str
    rule: str


class SceneTruncation(Struct, frozen=True, forbid_unknown_fields=True):
    """What the scene left out: for each list (number on the display, number in the scene)."""

    ocr: tuple[int, int] | None = None
    ax: tuple[int, int] | None = None
    apps: tuple[int, int] | None = None
    reason: str = ""


class Scene(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """Everything that is on the displays asked for. `scene_id` grows with every scene that differs from the one before.

    `timestamp`: milliseconds since the epoch, at the start of the tick. `reason`: the mode of the tick that made it.
    `focused_window`: of the default display, or of the first shown here that has one; `truncation`: the sum over the
    displays.
    """

    scene_id: int
    timestamp: int
    reason: SceneMode
    displays: tuple[SceneDisplay, ...]
    focused_window: FocusedWindow | None
    apps: tuple[SceneApp, ...]
    ocr: tuple[OcrElement, ...]
    ax: tuple[AxElement, ...]
    vlm_scene: str | None = None
    vlm_elements: tuple[VlmElement, ...] | None = None
    providers: tuple[DisplayProviders, ...] = ()
    redactions: tuple[Redacted, ...] = ()
    truncation: SceneTruncation | None = None


class LeftOut(Struct, frozen=True, forbid_unknown_fields=True):
    """How many widgets and texts of a display a limit kept out of a scene's text. `tokens`: a limit that fits all of
    that display.
    """

    display: str
    widgets: int
    texts: int
    tokens: int


class ElementMark(Struct, frozen=True, forbid_unknown_fields=True):
    """An element to draw: its id is the label, its box in pixels of the display."""

    id: str
    kind: Literal["widget", "text", "seen"]
    bbox: Rect


class Remark(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that a model saw, not yet an element."""

    kind: str
    desc: str
    bbox: Rect


Element = TypeVar("Element", OcrElement, AxElement)
T = TypeVar("T")


class ElementDiff(Struct, Generic[T], frozen=True, forbid_unknown_fields=True):
    """`added` and `changed`: the elements as they are now; `gone`: ids."""

    added: tuple[T, ...] = ()
    changed: tuple[T, ...] = ()
    gone: tuple[str, ...] = ()


class SceneDiff(Struct, frozen=True, forbid_unknown_fields=True):
    """From scene `since` to `scene_id`. A part that is None did not change; only lists of elements are diffs."""

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
    """Return what changed from `before` to `now`. A newer frame, or its age, is no change."""
    focus_moved = before.focused_window != now.focused_window
    return SceneDiff(
        scene_id=now.scene_id,
        since=before.scene_id,
        timestamp=now.timestamp,
        ocr=_diff_elements(before.ocr, now.ocr),
        ax=_diff_elements(before.ax, now.ax),
        displays=now.displays if _pick_lasting(before) != _pick_lasting(now) else None,
        focused_window=now.focused_window if focus_moved else None,
        focus_lost=focus_moved and now.focused_window is None,
        apps=now.apps if before.apps != now.apps else None,
        providers=now.providers if before.providers != now.providers else None,
        vlm_changed=(before.vlm_scene, before.vlm_elements) != (now.vlm_scene, now.vlm_elements),
    )


def is_same(before: Scene, now: Scene) -> bool:
    """Return whether `now` shows nothing that `before` did not."""
    found = diff(before, now)
    empty = ElementDiff[OcrElement](), ElementDiff[AxElement]()
    quiet = found.displays is None and found.apps is None and found.providers is None and not found.vlm_changed
    same_focus = before.focused_window == now.focused_window
    return (found.ocr, found.ax) == empty and quiet and same_focus and before.redactions == now.redactions


def _pick_lasting(scene: Scene) -> list[tuple[object, ...]]:
    return [
        (
            *(d.id, d.bounds, d.scale_factor, d.name, d.state, d.reason),
            *(d.monitors, d.primary, d.epoch, d.focused_window, d.truncation, d.notifications),
        )
        for d in scene.displays
    ]


def _diff_elements(before: Sequence[Element], now: Sequence[Element]) -> ElementDiff[Element]:
    earlier: Mapping[str, Element] = {one.id: one for one in before}
    present = {one.id for one in now}
    return ElementDiff(
        added=tuple(one for one in now if one.id not in earlier),
        changed=tuple(one for one in now if one.id in earlier and earlier[one.id] != one),
        gone=tuple(one.id for one in before if one.id not in present),
    )


GLOBAL_PITCH_PX = 32768
"""X knows no larger screen. Display n begins at x = n * pitch, so that no display ever moves another."""

_ROWS, _COLUMNS = ("top", "middle", "bottom"), ("left", "center", "right")


def position(box: Rect, width: int, height: int) -> str:
    """Return in which ninth of a `width` x `height` display the centre of `box` lies: `top-left` … `bottom-right`."""
    column = min(2, max(0, (2 * box.x + box.w) * 3 // (2 * max(1, width))))
    row = min(2, max(0, (2 * box.y + box.h) * 3 // (2 * max(1, height))))
    return f"{_ROWS[row]}-{_COLUMNS[column]}"


def global_bounds(display_id: int, width: int, height: int) -> Rect:
    """Return where `local_to_global` puts the pixels of a display of this size."""
    return Rect(display_id * GLOBAL_PITCH_PX, 0, width, height)


def local_to_global(displays: Sequence[SceneDisplay], display_id: int, x: int, y: int) -> tuple[int, int] | None:
    """Return the global pixel of a display's own (x, y), or None when no display shows it.

    A point past the edge of its own display is moved to that edge. Raises: NotFound for an unknown display.
    """
    display = next((one for one in displays if one.id == display_id), None)
    if display is None:
        known = ", ".join(str(one.id) for one in displays) or "none"
        raise NotFound(f"no display {display_id} in this scene", hint=f"displays: {known}")
    if display.bounds.area == 0:
        return None
    left, top = display.bounds.x, display.bounds.y
    return left + min(max(x, 0), display.bounds.w - 1), top + min(max(y, 0), display.bounds.h - 1)


_ELEMENT_ID = re.compile(
    r"(?:the\s+)?(?:element\s+|mark\s+)?(?P<open>[\[(#]?)(?P<id>[tav](?P<display>[1-9]\d{0,8})-[1-9]\d{0,8})[\])]?\.?",
    re.IGNORECASE | re.ASCII,
)


class ElementHandle(Struct, frozen=True):
    """An id, and the number of the display in it."""

    id: str
    display_id: int


def handle_of(words: str) -> ElementHandle | None:
    """Return the handle in `words` ("t3-12", "element a3-4", "[v3-1]"); None for any other description."""
    found = _ELEMENT_ID.fullmatch(words.strip())
    return ElementHandle(found["id"].lower(), int(found["display"])) if found is not None else None
