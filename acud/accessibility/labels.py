"""Which widgets react to a click, and names for nameless ones from the labels beside, behind or inside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from acud.accessibility.nodes import Node, State
from acud.types import Rect

BUTTONS = frozenset({"push button", "toggle button", "push button menu"})
INPUTS = frozenset({"entry", "text", "password text", "spin button", "editbar", "date editor", "document text"})
ITEMS = frozenset({"list item", "table row", "table cell", "tree item", "icon", "option pane"})
MENU_ITEMS = frozenset({"menu item", "check menu item", "radio menu item", "menu", "tearoff menu item"})
CHECKS = frozenset({"check box", "check menu item", "switch", "toggle button"})
CHOOSERS = frozenset({"combo box", "list box", "push button menu"})
HEADERS = frozenset({"table column header", "column header", "row header", "table row header"})

INTERACTIVE = (
    BUTTONS | INPUTS | ITEMS | MENU_ITEMS | CHECKS | CHOOSERS | HEADERS | {"page tab", "radio button", "link", "slider"}
) - {"text"}
"""Roles that react to a click; a `text` does when it can be edited."""


def is_interactive(node: Node) -> bool:
    """Return whether a click on this widget is likely to do something by itself."""
    return node.role in INTERACTIVE or (node.role == "text" and node.has(State.EDITABLE))


_LABELS = frozenset({"label", "static", "paragraph", "heading", "caption", "section", "text"})
_FIELDS = (INPUTS | CHOOSERS | {"slider", "switch", "check box", "progress bar"}) - {"list box"}
_SHOW_A_VALUE = frozenset({"combo box"})  # roles that some toolkits name by their value
_HOLD_LABELS = frozenset({"list item", "push button", "toggle button", "menu item", "table row", "tree item", "icon"})
_TICKED = frozenset({"check box", "radio button", "switch"})
_MOST_BEHIND_PX = 24
_MOST_LEFT_PX = 260
_MOST_ABOVE_PX = 28
_MOST_INDENT_PX = 40
_MOST_LETTERS = 60


def derive_names(nodes: Sequence[Node]) -> Mapping[str, str]:
    """Return names for nameless widgets by handle: of fields the nearest label on the left, else the one above, each
    label for one field; of items and buttons the labels inside them.
    """
    return {**_name_by_labels_behind(nodes), **_name_by_labels_beside(nodes), **_name_by_labels_inside(nodes)}


def _name_by_labels_behind(nodes: Sequence[Node]) -> dict[str, str]:
    """Return the labels right behind nameless check boxes, radio buttons and switches."""
    labels = [node for node in nodes if node.box is not None and _is_label(node)]
    found = {}
    for node in nodes:
        if node.box is None or node.name or node.role not in _TICKED:
            continue
        gaps = [
            (other.box.x - node.box.right, other.name)
            for other in labels
            if other.box is not None and _are_in_one_window(node, other) and in_one_row(node.box, other.box)
        ]
        near = [pair for pair in gaps if -2 <= pair[0] <= _MOST_BEHIND_PX]
        if near:
            found[node.ref] = min(near)[1]
    return found


def _name_by_labels_beside(nodes: Sequence[Node]) -> dict[str, str]:
    labels = [node for node in nodes if node.box is not None and _is_label(node)]
    nearest: dict[str, tuple[int, Node, Node]] = {}
    shared = _find_shared_names(nodes)
    for node in nodes:
        if node.box is None or not (_wants_a_label(node) or (node.role in _FIELDS and node.name in shared)):
            continue
        found = _find_nearest(node.box, [other for other in labels if _are_in_one_window(node, other)])
        if found is not None:
            gap, label = found
            known = nearest.get(label.ref)
            if known is None or gap < known[0]:
                nearest[label.ref] = (gap, node, label)
    return {node.ref: label.name for _, node, label in nearest.values()}


def _find_shared_names(nodes: Sequence[Node]) -> frozenset[str]:
    """Return the names that several fields have: some toolkits name fields after their group."""
    names = [node.name for node in nodes if node.role in _FIELDS and node.name]
    return frozenset(name for name in names if names.count(name) > 1)


def _wants_a_label(node: Node) -> bool:
    return node.role in _FIELDS and (not node.name or node.role in _SHOW_A_VALUE)


def _name_by_labels_inside(nodes: Sequence[Node]) -> dict[str, str]:
    """Return the joined labels of nameless items; `nodes` are in document order."""
    inside: dict[str, list[str]] = {}
    holder: Node | None = None
    inner: Node | None = None
    for node in nodes:
        if holder is not None and node.depth <= holder.depth:
            holder = None
        if inner is not None and node.depth <= inner.depth:
            inner = None
        if holder is None and node.role in _HOLD_LABELS and not node.name:
            holder = node
        elif holder is not None and inner is None and is_interactive(node):
            inner = node  # the name of a button in a row does not describe the row
        elif holder is not None and inner is None and _is_label(node):
            inside.setdefault(holder.ref, []).append(node.name)
    return {ref: " ".join(names)[:_MOST_LETTERS] for ref, names in inside.items()}


def _is_label(node: Node) -> bool:
    return node.role in _LABELS and not node.has(State.EDITABLE) and 0 < len(node.name) <= _MOST_LETTERS


def _are_in_one_window(node: Node, other: Node) -> bool:
    return (node.app, node.window) == (other.app, other.window)


def _find_nearest(box: Rect, labels: Iterable[Node]) -> tuple[int, Node] | None:
    """Return the distance in pixels and the nearest label; one above counts as farther than any on the left."""
    placed = [(label, label.box) for label in labels if label.box is not None]
    left = [(box.x - at.right, label) for label, at in placed if in_one_row(box, at) and box.x - at.right >= -4]
    near = [(gap, label) for gap, label in left if gap <= _MOST_LEFT_PX]
    if not near:
        above = [(box.y - at.bottom, label) for label, at in placed if abs(at.x - box.x) <= _MOST_INDENT_PX]
        near = [(gap + _MOST_LEFT_PX, label) for gap, label in above if -4 <= gap <= _MOST_ABOVE_PX]
    return min(near, key=lambda pair: pair[0]) if near else None


def in_one_row(a: Rect, b: Rect) -> bool:
    """Return whether two boxes share at least half of the lower one's height."""
    common = min(a.bottom, b.bottom) - max(a.y, b.y)
    return common >= 0.5 * min(a.h, b.h)
