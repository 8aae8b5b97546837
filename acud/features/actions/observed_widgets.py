"""Finds the widgets of an action in one tree: the field, the list, the scrollable ones, the dialogs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from acud.accessibility.nodes import TEXT_INPUT, Node, State, Tree
from acud.types import Rect, WindowInfo, window_at
from acud.types.action_effects import MAX_TOLD, MAX_WORDS, OpenDialog
from acud.types.actions import Point

MULTI_LINE = 1 << 17
"""AT-SPI's state of a multi-line text."""

CHOICES = frozenset({"combo box", "list box", "list", "table", "tree", "tree table", "menu"})
_VALUES = frozenset({"spin button", "date editor"})
_SCROLLING = frozenset(
    {
        "scroll pane", "viewport", "list box", "list", "table", "tree", "tree table", "document web", "document frame",
        "html container", "terminal",
    }
)  # fmt: skip
_CHANGED_BY_WHEEL = frozenset({"combo box", "spin button", "slider", "scroll bar", "page tab list", "date editor"})
_CONTROLS = frozenset(
    {
        "check box", "radio button", "toggle button", "switch", "push button", "menu item", "check menu item",
        "radio menu item", "list item", "table cell", "tree item", "page tab", "combo box", "link", "slider",
    }
)  # fmt: skip
_ITEMS = frozenset({"list item", "table cell", "tree item", "table row", "menu item"})
_DIALOGS = frozenset({"dialog", "alert", "file chooser", "color chooser", "font chooser"})
_TOPS = frozenset({"frame", "window", "filler", "panel"})
_TEXTS = frozenset({"label", "static", "paragraph", "heading"})
_BUTTONS = frozenset({"push button", "toggle button"})
_SMALLEST_PX = 40
"""Least height and width of a scrollable area."""
_OVERFLOW_PX = 2
_MOST_SCROLLABLES = 12


class WidgetTree:
    """A tree with its children by parent."""

    def __init__(self, tree: Tree) -> None:
        self.nodes, self.apps = tree.nodes, tree.apps
        self.ancestors = tree.ancestors
        self.place = {node.ref: index for index, node in enumerate(tree.nodes)}
        self._inside: dict[int, list[Node]] = {}
        for node in tree.nodes:
            self._inside.setdefault(node.parent, []).append(node)

    def children(self, node: Node) -> Sequence[Node]:
        return self._inside.get(self.place[node.ref], ())

    def descendants(self, node: Node) -> Iterator[Node]:
        """Yield everything in `node`, in document order."""
        for child in self.children(node):
            yield child
            yield from self.descendants(child)


def find_at_point(tree: WidgetTree, point: Point, windows: Sequence[WindowInfo]) -> list[Node]:
    """Return the widgets at a display pixel, innermost first; only those of the topmost window there, if it has any."""
    there = [node for node in tree.nodes if node.box is not None and node.box.holds(point.x, point.y)]
    top = window_at(windows, point.x, point.y)
    there = [node for node in there if node.window in (top.window_id if top is not None else 0, 0)] or there
    return sorted(there, key=lambda node: (node.box.area if node.box else 0, -tree.place[node.ref]))


def control_at(tree: WidgetTree, point: Point, windows: Sequence[WindowInfo]) -> Node | None:
    """Return the innermost control at `point`, else the innermost widget: a click on a label reaches its box."""
    found = find_at_point(tree, point, windows)
    return next((node for node in found if node.role in _CONTROLS), found[0] if found else None)


def field_at(tree: WidgetTree, point: Point, windows: Sequence[WindowInfo]) -> Node | None:
    """Return the widget at `point` that takes text: the whole one of a date or text in parts."""
    found = next((node for node in find_at_point(tree, point, windows) if takes_text(node)), None)
    return None if found is None else _find_whole(tree, found)


def choice_at(tree: WidgetTree, point: Point, windows: Sequence[WindowInfo]) -> Node | None:
    """Return the list or combo box at `point`."""
    return next((node for node in find_at_point(tree, point, windows) if node.role in CHOICES), None)


def find_focused(tree: WidgetTree, window: int) -> Node | None:
    """Return the innermost focused widget in the focused X window `window` (or in an unknown one)."""
    found = [node for node in tree.nodes if node.has(State.FOCUSED)]
    own = [node for node in found if window and node.window == window] or [node for node in found if not node.window]
    # Lists report their current item as focused, even without the focus.
    sure = [node for node in own if node.role not in _ITEMS or _has_focused_parent(tree, node)] or own
    return max(sure, key=lambda node: node.depth, default=None)


def _has_focused_parent(tree: WidgetTree, node: Node) -> bool:
    return any(around.has(State.FOCUSED) for around in tree.ancestors(node))


def find_focused_field(tree: WidgetTree, window: int) -> Node | None:
    found = find_focused(tree, window)
    return _find_whole(tree, found) if found is not None and takes_text(found) else None


def takes_text(node: Node) -> bool:
    return node.role in TEXT_INPUT or node.has(State.EDITABLE)


def find_parts(tree: WidgetTree, node: Node) -> list[Node]:
    """Return the spin buttons of a date or time in parts, in order; [] for another widget."""
    parts = [one for one in tree.descendants(node) if one.role == "spin button"]
    return parts if len(parts) > 1 else []


def is_value(node: Node) -> bool:
    """Return whether `node` holds one value, replaced by typing."""
    return node.role in _VALUES


def _find_whole(tree: WidgetTree, node: Node) -> Node:
    """Return the date around its part `node`, or the outermost of nested editable widgets."""
    whole = node
    for around in tree.ancestors(node):
        if around.role == "date editor" or (around.has(State.EDITABLE) and around.role != "combo box"):
            whole = around
    return whole


def find_open_dialogs(tree: WidgetTree, windows: Sequence[WindowInfo]) -> tuple[OpenDialog, ...]:
    """Return the open dialogs, topmost windows first, then those inside of windows.

    A window of the kind dialog without widgets is listed without words.
    """
    owned = {one.window_id: one for one in windows if one.kind == "dialog" and one.visibility != "unmapped"}
    found: list[OpenDialog] = []
    for node in tree.nodes:
        window = _find_window(tree, node, owned) if node.parent < 0 else None
        if window is None and (node.role not in _DIALOGS or _is_inside_dialog(tree, node)):
            continue
        if window is not None:
            del owned[window.window_id]
        dialog = _make_dialog(tree, node, window)
        if window is not None or dialog.title or dialog.texts or dialog.buttons:  # Firefox has an empty alert always
            found.append(dialog)
    rest = [OpenDialog(one.title, window_id=one.window_id) for one in owned.values()]
    place = {window.window_id: index for index, window in enumerate(windows)}
    ordered = sorted([*found, *rest], key=lambda one: place.get(one.window_id, len(place)))
    return tuple(ordered[:MAX_TOLD])


def _find_window(tree: WidgetTree, node: Node, windows_by_id: Mapping[int, WindowInfo]) -> WindowInfo | None:
    """Return the dialog window of a top-level widget; for a widget without a window the first of its program."""
    if node.window or node.role not in _DIALOGS:
        return windows_by_id.get(node.window)
    pid = tree.apps[node.app].pid
    return next((one for one in windows_by_id.values() if pid and one.pid == pid), None)


def _is_inside_dialog(tree: WidgetTree, node: Node) -> bool:
    return any(around.role in _DIALOGS for around in tree.ancestors(node))


def _make_dialog(tree: WidgetTree, node: Node, window: WindowInfo | None) -> OpenDialog:
    inside = list(tree.descendants(node))
    texts = [one.name for one in inside if one.role in _TEXTS and one.name and not _names_control(tree, one)]
    buttons = [_clean_label(one.name) for one in inside if one.role in _BUTTONS and one.name]
    title = window.title if window is not None else node.name
    return OpenDialog(
        title=(title or node.name)[:MAX_WORDS],
        texts=_limit_words([one for one in texts if one != title]),
        buttons=_limit_words(buttons),
        window_id=window.window_id if window is not None else 0,
    )


def _clean_label(name: str) -> str:
    """Return a button's name once: GTK 4 reports its mnemonic and its label (`_OK OK`)."""
    words = name.split()
    half = len(words) // 2
    first = " ".join(words[:half]).replace("_", "")
    return first if first and first == " ".join(words[half:]) else name


def _names_control(tree: WidgetTree, node: Node) -> bool:
    return any(around.role in _BUTTONS for around in tree.ancestors(node))


def _limit_words(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(one[:MAX_WORDS] for one in dict.fromkeys(words))[:MAX_TOLD]


def find_scrollable(tree: WidgetTree, screen: Rect) -> list[tuple[Node, Rect, Point]]:
    """Return the scrollable widgets, each with its visible box and the point to turn the wheel at: over no widget that
    the wheel changes, and over no other scrollable one.

    A widget is scrollable by its role, by a scroll bar in it, or because its content reaches past its end.
    """
    nodes = [node for node in tree.nodes if _can_scroll(tree, node)]
    # the innermost of several with the same box
    boxes = {seen: node for node in nodes if (seen := _find_visible_box(tree, node, screen)) is not None}
    avoid = [one.box for one in tree.nodes if one.box is not None and one.role in _CHANGED_BY_WHEEL]
    found = []
    for seen, node in boxes.items():
        inner = [box for box in boxes if box != seen and seen.contains(box)]
        at = _free_point(seen, [*avoid, *inner])
        if at is not None:
            found.append((node, seen, at))
    found.sort(key=lambda one: -one[1].area)
    return found[:_MOST_SCROLLABLES]


def _can_scroll(tree: WidgetTree, node: Node) -> bool:
    if node.role in _SCROLLING or (node.states & MULTI_LINE and takes_text(node)):
        return True
    if node.role in ("frame", "window", "application", "menu bar", "tool bar"):
        return False
    inside = tree.children(node)
    if any(one.role == "scroll bar" for one in inside):
        return True
    bottom = node.box.bottom if node.box is not None else 0
    over = [one for one in inside if one.box is not None and one.box.y < bottom < one.box.bottom - _OVERFLOW_PX]
    return len(inside) > 2 and bool(over)


def _find_visible_box(tree: WidgetTree, node: Node, screen: Rect) -> Rect | None:
    """Return the part of `node` inside the boxes around it; None if it is too small to scroll."""
    box = node.box.intersect(screen) if node.box is not None else None
    for around in tree.ancestors(node):
        if box is not None and around.box is not None and around.role not in _TOPS:
            box = box.intersect(around.box)
    return box if box is not None and min(box.w, box.h) >= _SMALLEST_PX else None


def _free_point(box: Rect, avoid: Sequence[Rect]) -> Point | None:
    """Return the point of a grid in `box` outside of `avoid`, nearest to the middle; None if there is none."""
    shares = (0.5, 0.35, 0.65, 0.2, 0.8, 0.08, 0.92)
    points = [Point(int(box.x + box.w * across), int(box.y + box.h * down)) for down in shares for across in shares]
    return next((one for one in points if not any(other.holds(one.x, one.y) for other in avoid)), None)
