"""The questions to an evaluator about a display's scene, and its answers. The supervisor gives the ids.

Every list is bounded, so that the message stays well under 1 MiB; what was left out is counted.
"""

from __future__ import annotations

from msgspec import Struct

from acud.types import Rect, WindowInfo, XId
from acud.types.scene import ChangeTiers, ProviderState

MAX_LINES = 2000
MAX_NODES = 2000
MAX_PARTS_BYTES = 800_000
"""Of the encoded parts; a message may have 1 MiB, and other things ride in it."""


class SceneAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """Read a display: its text (`ocr`), its widgets (`ax`). `fresh`: a full scan, also where nothing changed.

    `secure`: boxes of password fields that were seen before, for a look that reads no widgets.
    `windows` (topmost first) and `focused` are the display's. `bus_address`: its session bus; `a11y_address`: its
    accessibility bus where the display itself names one.
    """

    ocr: bool = True
    ax: bool = True
    fresh: bool = False
    windows: tuple[WindowInfo, ...] = ()
    focused: int = 0
    bus_address: str = ""
    a11y_address: str = ""
    secure: tuple[Rect, ...] = ()


class TextPart(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of text, in the source's pixels. `rule`: what was taken out of it, by which rule ("": nothing).

    `reader`: which reader read it ("": the provider's first or only one).
    """

    text: str
    bbox: Rect
    conf: float
    words: tuple[tuple[str, Rect], ...] = ()
    rule: str = ""
    reader: str = ""


class NodePart(Struct, frozen=True, forbid_unknown_fields=True):
    """A widget. `key`: its handle on the bus, which names it while it lives. `bbox` is empty if its toolkit gives no
    place. `value`: what it holds. `parent`: the index of the widget around it (-1: none), which comes before it.
    `window`: its X window (0: not known). `offscreen`: its page has it beyond what the window shows. `placeholder`: the
    words that stand in a field while it is empty.
    """

    role: str
    bbox: Rect
    label: str = ""
    actions: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    app: str = ""
    pid: int = 0
    key: str = ""
    secure: bool = False
    rule: str = ""
    value: str = ""
    parent: int = -1
    window: XId = 0
    offscreen: bool = False
    placeholder: str = ""


class SceneParts(Struct, frozen=True, forbid_unknown_fields=True):
    """What was read; a provider that is None was not asked. `lines_total`, `nodes_total`: how many there were.

    `cut`: the limit that left something out ("": nothing was). `change`: how the frame differs from the one read
    before, None where there was none.
    """

    ocr: ProviderState | None = None
    ax: ProviderState | None = None
    lines: tuple[TextPart, ...] = ()
    nodes: tuple[NodePart, ...] = ()
    lines_total: int = 0
    nodes_total: int = 0
    cut: str = ""
    change: ChangeTiers | None = None
    ocr_ms: float = 0.0
    ax_ms: float = 0.0
