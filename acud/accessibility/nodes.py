"""Widgets as frozen values, the names of their roles, and the tree of a display with what is missing from it."""

from __future__ import annotations

from enum import IntFlag
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from acud.types import Rect


class State(IntFlag):
    """The states that acud uses; the value is the bit in AT-SPI's 64 bit state set (AtspiStateType)."""

    ACTIVE = 1 << 1
    CHECKED = 1 << 4
    COLLAPSED = 1 << 5
    DEFUNCT = 1 << 6
    EDITABLE = 1 << 7
    ENABLED = 1 << 8
    EXPANDABLE = 1 << 9
    EXPANDED = 1 << 10
    FOCUSABLE = 1 << 11
    FOCUSED = 1 << 12
    MODAL = 1 << 16
    PRESSED = 1 << 20
    SELECTABLE = 1 << 22
    SELECTED = 1 << 23
    SENSITIVE = 1 << 24
    SHOWING = 1 << 25
    VISIBLE = 1 << 30
    INDETERMINATE = 1 << 32
    REQUIRED = 1 << 33
    IS_DEFAULT = 1 << 39
    CHECKABLE = 1 << 41
    HAS_POPUP = 1 << 42
    READ_ONLY = 1 << 43


class Node(Struct, frozen=True):
    """One widget. `ref` is its handle on the bus while it lives; `app` and `parent` are indices into the tree (parent
    -1: a top-level window). `box` is in display pixels; None: the toolkit does not report it. `window` is the X window
    it is in (0: not known). Of a `secure` widget neither text nor description is ever read.

    `name`, `description` and `text` are words from the screen, bounded, without control characters. `text` is a field's
    content, a combo box's choice or a slider's position. `placeholder`: the words in a field while it is empty, never
    its content. `span`: the least and the greatest position.
    """

    ref: str
    app: int
    parent: int
    depth: int
    role: str
    name: str
    states: int
    box: Rect | None
    window: int = 0
    description: str = ""
    text: str = ""
    actions: tuple[str, ...] = ()
    secure: bool = False
    placeholder: str = ""
    span: tuple[float, float] | None = None

    def has(self, states: State) -> bool:
        return self.states & states == states

    @property
    def is_enabled(self) -> bool:
        """Whether it reacts. GTK sets both states, GTK 4 only one."""
        return bool(self.states & (State.ENABLED | State.SENSITIVE))

    def state_names(self) -> tuple[str, ...]:
        """Return the set states' names, in AT-SPI's order."""
        return tuple(str(state.name).lower() for state in State if self.states & state)


class AccessibleApp(Struct, frozen=True):
    """An application on the accessibility bus; `pid` 0: not known."""

    name: str
    pid: int
    toolkit: str = ""
    version: str = ""

    @property
    def is_gtk_4(self) -> bool:
        """Whether the toolkit is GTK 4, which reports neither screen coordinates nor what shows."""
        return self.toolkit == "GTK" and self.version.startswith("4")

    @property
    def is_gtk_3(self) -> bool:
        return self.toolkit == "gtk" and self.version.startswith("3")

    @property
    def is_libreoffice(self) -> bool:
        """Whether it is LibreOffice, which draws most of its widgets itself, in windows of another toolkit."""
        return self.name == "soffice"

    @property
    def is_qt(self) -> bool:
        return self.toolkit == "Qt"

    @property
    def is_chromium(self) -> bool:
        return self.toolkit == "Chromium"

    @property
    def is_gecko(self) -> bool:
        """Whether it is Firefox or a relative, which reports the words of a page as texts, not widgets."""
        return self.toolkit == "Gecko"


class FailedApp(Struct, frozen=True):
    """An application with missing widgets, all or some, and the reason."""

    name: str
    pid: int
    reason: str


PAGES = frozenset({"document web", "document frame"})
"""The roles of a web page."""
_LIMITS = {"depth": "max_depth", "nodes": "max_nodes", "time": "walk_s"}

App = AccessibleApp
"""Its former name, which providers may import."""


class Limits(Struct, frozen=True):  # part of the plug-in interface, as its name is
    """Bounds of one walk. `answer_s`: an application that does not answer for this long is given up. `details`: read
    descriptions and actions of every widget; `actions`: the actions of interactive ones. `offscreen`: also read, last,
    the part of a page outside its window; such widgets lack `State.SHOWING`.
    """

    max_depth: int = 40
    max_nodes: int = 5000
    walk_s: float = 3.0
    answer_s: float = 0.5
    details: bool = False
    actions: bool = False
    offscreen: bool = False


class Tree(Struct, frozen=True):
    """The widgets that the applications of a display reported, in document order per application.

    `truncated`: the limit that cut the tree ("": none), `left_out`: how many widgets it cut off at least. `failed`:
    applications missing from the tree. `silent`: applications with a window but without widgets, and how to make
    them report them. `hidden`: number of widgets that do not show; they are left out with everything below them.
    `version`: of a mirror, a number that grows with every difference (0: not from a mirror).
    """

    apps: tuple[AccessibleApp, ...] = ()
    nodes: tuple[Node, ...] = ()
    failed: tuple[FailedApp, ...] = ()
    truncated: Literal["", "depth", "nodes", "time"] = ""
    hidden: int = 0
    ms: float = 0.0
    version: int = 0
    left_out: int = 0
    silent: tuple[FailedApp, ...] = ()

    def gaps(self) -> tuple[str, ...]:
        """Return what is missing from the tree, in words; () for a complete tree."""
        count, limit = len(self.nodes), _LIMITS.get(self.truncated)
        cut = (f"{count} of at least {count + self.left_out} widgets told ([accessibility] {limit})",) if limit else ()
        return (*cut, *(f"{app.name or app.pid}: {app.reason}" for app in (*self.failed, *self.silent)))

    def ancestors(self, node: Node) -> tuple[Node, ...]:
        """Return the widgets around `node`, nearest first."""
        found = []
        while node.parent >= 0:
            node = self.nodes[node.parent]
            found.append(node)
        return tuple(found)

    def showing(self) -> Tree:
        """Return the tree without the widgets of a page outside its window (`Limits.offscreen`)."""
        kept = [index for index, node in enumerate(self.nodes) if node.states & State.SHOWING]
        if len(kept) == len(self.nodes):
            return self
        new = {index: number for number, index in enumerate(kept)}
        nodes = []
        for index in kept:
            parent = self.nodes[index].parent
            while parent >= 0 and parent not in new:
                parent = self.nodes[parent].parent
            nodes.append(replace(self.nodes[index], parent=new.get(parent, -1)))
        return replace(self, nodes=tuple(nodes), hidden=self.hidden + len(self.nodes) - len(nodes))


_TEN_A_LINE = """
invalid, accelerator label, alert, animation, arrow, calendar, canvas, check box, check menu item, color chooser,
column header, combo box, date editor, desktop icon, desktop frame, dial, dialog, directory pane, drawing area, file chooser,
filler, focus traversable, font chooser, frame, glass pane, html container, icon, image, internal frame, label,
layered pane, list, list item, menu, menu bar, menu item, option pane, page tab, page tab list, panel,
password text, popup menu, progress bar, push button, radio button, radio menu item, root pane, row header, scroll bar, scroll pane,
separator, slider, spin button, split pane, status bar, table, table cell, table column header, table row header, tearoff menu item,
terminal, text, toggle button, tool bar, tool tip, tree, tree table, unknown, viewport, window,
extended, header, footer, paragraph, ruler, application, autocomplete, editbar, embedded, entry,
chart, caption, document frame, heading, page, section, redundant object, form, link, input method window,
table row, tree item, document spreadsheet, document presentation, document text, document web, document email, comment, list box, grouping,
image map, notification, info bar, level bar, title bar, block quote, audio, video, definition, article,
landmark, log, marquee, math, rating, timer, static, math fraction, math root, subscript,
superscript, description list, description term, description value, footnote, content deletion, content insertion, mark, suggestion, push button menu,
switch
"""  # noqa: E501 - a line is ten roles: 0 to 9, 10 to 19 …
ROLE_NAMES = tuple(name.strip() for name in _TEN_A_LINE.split(","))
"""AT-SPI's roles by number."""
PASSWORD = "password text"  # noqa: S105 - a role, no password
TEXT_INPUT = frozenset({"entry", "text", "password text", "spin button", "editbar", "terminal", "date editor"})
"""Roles of widgets to type into; some toolkits also use `text` for a text that can only be read."""
FIELD = "entry"
"""The role that acud gives to an editable widget without a useful role."""


def role_name(number: int) -> str:
    """Return the name of role `number`; one that is newer than the table is `unknown`."""
    return ROLE_NAMES[number] if 0 <= number < len(ROLE_NAMES) else "unknown"
