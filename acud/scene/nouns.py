"""The scene: one compact, truthful picture of what is on the displays, with stable ids. Field names on the wire are the
seed's (`displayId`, `scaleFactor`). Boxes are `[x, y, w, h]` in pixels of the element's own display.

What could not be looked at is never an empty list alone: `providers` says who failed, and why.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from acud.types import Rect

_NAMES = {"display_id": "displayId", "scale_factor": "scaleFactor"}


class SceneMode(StrEnum):
    """How much a tick looks at: `idle` reuses everything while nothing changed, `active` reads again what changed,
    `agent-turn` reads everything again, also on identical frames. A later one is the stronger.
    """

    IDLE = "idle"
    ACTIVE = "active"
    AGENT_TURN = "agent-turn"


class SceneDisplay(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """A display. `id`: the store's number, never reused. `bounds` are global: where `local_to_global` puts its pixels.

    `state`: `up`, or why nothing is known (`reason`). `frame`: the newest frame this scene shows, `frame_age_s` how old
    it was at the scene's time. `monitors`: RANDR's views of it, in its own pixels. `focused_window`: what has the input
    focus there (each X server has its own). `truncation`: what was left out of this display's lists.
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
    """The window that has the input focus, as the X server says."""

    app: str
    pid: int | None
    bounds: Rect
    title: str
    display_id: int


class SceneWindow(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """A window. `id`: its X id in `0x` form."""

    id: str
    title: str
    bounds: Rect
    display_id: int


class SceneApp(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """A process on a display with its windows there; pid 0 gathers the display's windows that name none."""

    name: str
    pid: int
    windows: tuple[SceneWindow, ...] = ()
    display_id: int = 0


class OcrElement(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """A line of visible text. `id`: `t<display>-<n>`. `conf`: 0 to 1. `words`: each with its box, where the engine
    tells them apart. `position`: where it is on its display, in thirds (`top-left` … `bottom-right`).
    """

    id: str
    text: str
    bbox: Rect
    conf: float
    display_id: int
    words: tuple[tuple[str, Rect], ...] = ()
    position: str = ""


class AxElement(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """A widget. `id`: `a<display>-<n>`. `secure`: a password field, whose text is never read."""

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


class VlmElement(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """Something a vision model named."""

    id: str
    kind: str
    desc: str
    bbox: Rect
    display_id: int


class ProviderState(Struct, frozen=True, forbid_unknown_fields=True):
    """Who read a part of the scene on one display. `stale`: what is shown was read before, and why it is kept stands in
    `reason`. `unavailable`: nothing is known. `off`: nobody was asked.
    """

    name: str
    state: Literal["ready", "stale", "unavailable", "off"]
    reason: str = ""


class DisplayProviders(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """The providers of one display."""

    display_id: int
    ocr: ProviderState
    ax: ProviderState


class Redacted(Struct, frozen=True, forbid_unknown_fields=True):
    """Something was taken out: of which element (or field), by which rule."""

    where: str
    rule: str


class SceneTruncation(Struct, frozen=True, forbid_unknown_fields=True):
    """What the scene left out of its sources, by name of the list: (there were, are shown)."""

    ocr: tuple[int, int] | None = None
    ax: tuple[int, int] | None = None
    apps: tuple[int, int] | None = None
    reason: str = ""


class Scene(Struct, frozen=True, rename=_NAMES, forbid_unknown_fields=True):
    """Everything that is on the displays asked for. `scene_id` grows with every scene that differs from the one before.

    `timestamp`: milliseconds since the epoch, at the start of the tick. `reason`: the mode of the tick that made it.
    `focused_window`: the default display's, or that of the first shown here that has one; `truncation`: the sum of what
    the displays tell.
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
