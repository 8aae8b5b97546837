"""Names for widgets that have none: the label beside or above a field, where the toolkit does not connect them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from acud.accessibility.nodes import Node
from acud.desktop.kinds import CHOOSERS, INPUTS
from acud.types import Rect

_LABELS = frozenset({"label", "static", "paragraph", "heading", "caption", "section", "text"})
_FIELDS = INPUTS | CHOOSERS | {"slider", "switch", "check box", "progress bar"}
_MOST_LEFT_PX = 260
_MOST_ABOVE_PX = 28
_MOST_INDENT_PX = 40
_MOST_LETTERS = 60


def implied_names(nodes: Sequence[Node]) -> Mapping[str, str]:
    """Return by handle what the labels near nameless fields say: the nearest on the left, else the one above."""
    labels = [node for node in nodes if node.box is not None and _is_label(node)]
    found = {}
    for node in nodes:
        if node.box is not None and not node.name and node.role in _FIELDS and not _is_label(node):
            label = _nearest(node.box, [other for other in labels if _are_together(node, other)])
            if label is not None:
                found[node.ref] = label.name
    return found


def _is_label(node: Node) -> bool:
    return node.role in _LABELS and 0 < len(node.name) <= _MOST_LETTERS


def _are_together(node: Node, other: Node) -> bool:
    return (node.app, node.window) == (other.app, other.window)


def _nearest(box: Rect, labels: Iterable[Node]) -> Node | None:
    placed = [(label, label.box) for label in labels if label.box is not None]
    left = [(box.x - at.right, label) for label, at in placed if _in_one_row(box, at) and box.x - at.right >= -4]
    near = [(gap, label) for gap, label in left if gap <= _MOST_LEFT_PX]
    if not near:
        near = [(gap, label) for label, at in placed if 0 <= (gap := box.y - at.bottom + 4) <= _MOST_ABOVE_PX + 4
                and abs(at.x - box.x) <= _MOST_INDENT_PX]  # fmt: skip
    return min(near, key=lambda pair: pair[0])[1] if near else None


def _in_one_row(a: Rect, b: Rect) -> bool:
    common = min(a.bottom, b.bottom) - max(a.y, b.y)
    return common >= 0.5 * min(a.h, b.h)
