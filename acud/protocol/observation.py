"""The question to an evaluator about what an action meets and leaves on a display, and its answer.

Words of `WidgetNow.text` and `reads` are as the screen has them, to be compared with what was typed or chosen;
`quoted`, titles, texts and names are redacted and may be shown to clients.
"""

from __future__ import annotations

from msgspec import Struct

from acud.types import Rect, WindowInfo
from acud.types.action_effects import OpenDialog
from acud.types.actions import Point

MAX_FIELD = 20_000
"""Characters of a field that is read back; a longer one cannot be."""


class ObserveAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """What is at `point`, which dialogs are open, where is the focus?

    `pids`: the processes whose widgets are read. Without a `point`, the widget that has the focus is asked for. `hint`:
    words that something out of sight may have, for `scrollables`, which are looked for only with it. `windows` (topmost
    first) and `focused` are the display's; `bus_address`, `a11y_address`: as of `SceneAsk`. `read_text`: instead, read
    the visible text of the view, of a dialog that exposes no widgets.
    """

    pids: tuple[int, ...] = ()
    point: Point | None = None
    hint: str | None = None
    windows: tuple[WindowInfo, ...] = ()
    focused: int = 0
    bus_address: str = ""
    a11y_address: str = ""
    read_text: bool = False


class WidgetNow(Struct, frozen=True, forbid_unknown_fields=True):
    """A widget as it is now. `states`: its AT-SPI state set.

    `text` None: it cannot be read (why: `unread`). `quoted`: the redacted text. `reads`: what a list or combo box has
    chosen. `first`: where typing into it begins, where that is not anywhere in it (the first part of a date). `caret`:
    characters before the caret (-1: not known). `is_value`: it holds one value (a number, a date), which typing
    replaces.
    """

    role: str
    name: str = ""
    box: Rect | None = None
    states: int = 0
    text: str | None = None
    quoted: str = ""
    unread: str = ""
    reads: tuple[str, ...] = ()
    first: Point | None = None
    caret: int = -1
    is_value: bool = False
    is_date: bool = False
    is_multi_line: bool = False
    is_secure: bool = False


class Scrollable(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the display that scrolls. `at`: where to turn the wheel, over nothing that it changes. `has_hint`:
    something with the words that were asked for is in it, out of sight.
    """

    box: Rect
    at: Point
    has_hint: bool = False


class Observed(Struct, frozen=True, forbid_unknown_fields=True):
    """What was asked for. `unread`: why widgets could not be read ("": they were). `is_late`: its time was over first.

    `at`: the innermost widget at the point; `field`: the one that takes text there, or has the focus; `choice`: the
    list or combo box there. `focus`: the widget with the focus.
    """

    unread: str = ""
    is_late: bool = False
    at: WidgetNow | None = None
    field: WidgetNow | None = None
    choice: WidgetNow | None = None
    focus: WidgetNow | None = None
    dialogs: tuple[OpenDialog, ...] = ()
    scrollables: tuple[Scrollable, ...] = ()
    lines: tuple[str, ...] = ()
