"""The visible part of a widget, and where it can be clicked."""

from __future__ import annotations

from collections.abc import Sequence

from acud.accessibility.nodes import Node, Tree
from acud.types import Rect, WindowInfo
from acud.types.actions import Point

_CLIPPING = frozenset(
    {"scroll pane", "viewport", "frame", "window", "dialog", "document web", "list", "table", "tree", "tree table"}
)
_FLOATING = frozenset({"menu", "popup menu", "combo box", "tool tip", "push button menu"})
"""Opened, these float above their window and past its edges."""
_LEAST_PX = 3
_STEPS = (0.5, 0.25, 0.75, 0.1, 0.9)


class WidgetVisibility:
    """Computes the visible part of a tree's widgets; `windows` are the display's, topmost first."""

    def __init__(self, tree: Tree, windows: Sequence[WindowInfo], screen: Rect) -> None:
        self._tree = tree
        self._windows = windows
        self._screen = screen
        self._height = {window.window_id: index for index, window in enumerate(windows)}
        self._floating = [node.box for node in tree.nodes if node.box is not None and self._is_menu_item(node)]

    def _is_menu_item(self, node: Node) -> bool:
        return node.role.endswith("menu item") and self._floats(node)

    def _floats(self, node: Node) -> bool:
        return any(other.role in _FLOATING for other in self._tree.ancestors(node))

    def visible_part(self, node: Node) -> Rect | None:
        """Return the part of the node's box inside its parents, its window and the display; None for none."""
        if node.box is None:
            return None
        part = node.box.intersect(self._screen)
        around = self._tree.ancestors(node)
        floats = self._floats(node)
        for other in () if floats else around:
            if part is not None and other.box is not None and other.role in _CLIPPING:
                part = part.intersect(other.box)
        if part is not None and not floats:
            part = self._clip_to_window(node, part)
        return part if part is not None and min(part.w, part.h) >= _LEAST_PX else None

    def _clip_to_window(self, node: Node, part: Rect) -> Rect | None:
        index = self._height.get(node.window)
        if index is None:
            return part
        window = self._windows[index]
        return None if window.visibility == "unmapped" else part.intersect(window.bounds)

    def click_point(self, node: Node, part: Rect) -> Point | None:
        """Return the middle of `part`, or another point in it that no window covers; None when all are covered."""
        above = [window.outside for window in self._windows_above(node)]
        if not self._floats(node):
            above += self._floating
        for y in _STEPS:
            for x in _STEPS:
                point = Point(part.x + int(part.w * x), part.y + int(part.h * y))
                if not any(box.holds(point.x, point.y) for box in above):
                    return point
        return None

    def _windows_above(self, node: Node) -> Sequence[WindowInfo]:
        index = self._height.get(node.window)
        above = self._windows[:index] if index is not None else ()
        floats = self._floats(node)
        return [w for w in above if w.visibility != "unmapped" and not (floats and self._is_own_popup(node, w))]

    def _is_own_popup(self, node: Node, window: WindowInfo) -> bool:
        pid = self._tree.apps[node.app].pid
        return window.kind == "popup" and (window.owner == node.window or (pid != 0 and window.pid == pid))
