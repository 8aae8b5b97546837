"""The widget that a description means, among those of a display, and why it can't be used if it can't."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from acud.accessibility.labels import BUTTONS, derive_names
from acud.accessibility.nodes import Node, State, Tree
from acud.features.grounding.description_parts import Parts, parts_of
from acud.features.grounding.item_explanation import Explained, find_icon_phrases
from acud.features.grounding.item_match import explain
from acud.features.grounding.screen_items import Item, ShapeOf, TreeSurroundings, tree_items, with_shape
from acud.features.grounding.widget_words import OF_VERB, TICKED
from acud.features.grounding.word_likeness import normal
from acud.types import Rect, WindowInfo, behind_modal
from acud.types.actions import Point
from acud.types.grounding import COVERED, Candidate, GroundingMethod

_SURE_COST, _SURE_TEXT_COST = 1.3, 0.7
"""The highest cost of a sure explanation, of a widget and of a text that does not react."""

Outcome = Literal["sure", "ambiguous", "unsure", "nothing"]


class Match(Struct, frozen=True):
    """`sure`: exactly one candidate. `ambiguous`: several equally good ones. `unsure`: near matches, best first."""

    outcome: Outcome
    candidates: tuple[Candidate, ...] = ()
    reason: str = ""


def match(
    description: str, tree: Tree, windows: Sequence[WindowInfo], screen: Rect, *, verb: str = "", most: int = 8,
    shape_of: ShapeOf | None = None,
) -> Match:  # fmt: skip
    """Return which widget of `tree` is meant. `windows` are the display's, topmost first; `screen` its bounds.

    `shape_of` gives the meanings of a widget's icon by its shape; it is called only where names leave the answer open.
    Only widgets that are visible and uncovered inside their window and the display are candidates; `reason` names a
    match that is not. A disabled widget is a candidate marked as disabled.
    """
    return _Matcher(tree, windows, screen, verb, shape_of).answer(description, most)


class _Matcher:
    def __init__(
        self, tree: Tree, windows: Sequence[WindowInfo], screen: Rect, verb: str, shape_of: ShapeOf | None
    ) -> None:
        self._tree = tree
        self._shape_of = shape_of
        self._windows = windows
        self._sight = WidgetVisibility(tree, windows, screen)
        self._behind = behind_modal(windows)
        modal = State.MODAL | State.SHOWING
        self._modal_apps = {node.app for node in tree.nodes if node.parent == -1 and node.has(modal)}
        parts = {node.ref: self._sight.visible_part(node) for node in tree.nodes}
        self._boxes = {ref: part for ref, part in parts.items() if part is not None}
        self._roles = OF_VERB.get(verb)
        self._implied = derive_names([node for node in tree.nodes if node.ref in self._boxes])
        self._nodes = {node.ref: node for node in tree.nodes}

    def _find_surroundings(self, description: str) -> TreeSurroundings:
        """Return the visible items, with the meanings of nameless icons where the description names one."""
        items = tree_items(self._tree, self._boxes, self._implied)
        if self._shape_of is not None and find_icon_phrases(description):
            texts = [item.box for item in items if item.role in ("label", "static") and item.names]
            shape_of = self._shape_of
            items = [one if any(one.box.contains(box) for box in texts) else with_shape(one, shape_of) for one in items]
        titles = {window.window_id: window.title for window in self._windows}
        return TreeSurroundings(items, titles, self._tree)

    def answer(self, description: str, most: int) -> Match:
        """Return the usable widgets that explain every word of the description."""
        told = parts_of(description)
        around = self._find_surroundings(description)
        blocked = frozenset(item.ref for item in around.items if self._explain_block(item, told))
        explained = explain(description, around, self._roles, blocked)
        if explained.outcome in ("nothing", "unsure"):
            hidden = explain(description, around, self._roles)
            if hidden.outcome in ("sure", "ambiguous"):
                return Match("nothing", (), self._describe_blocked(hidden.items[0].item, told))
        if explained.outcome == "nothing":
            return Match("nothing")
        usable = explained.items
        candidates = tuple(self._make_candidate(one) for one in usable[:most])
        if explained.outcome == "unsure":
            return Match("unsure", candidates)
        if len(usable) > 1:
            return Match("ambiguous", candidates, f"{len(usable)} widgets fit as well")
        is_sure = _is_plain(usable[0]) and not _is_elsewhere(usable[0].item, description, told, around)
        return Match("sure" if is_sure else "unsure", candidates, self._describe_disabled(usable[0]))

    def _explain_block(self, item: Item, parts: Parts) -> str:
        """Return why the item can't be meant now, unless the description itself names that state."""
        node = self._nodes[item.ref]
        if self._is_behind_modal(node) and not parts.is_behind:
            return "behind a dialog that must be answered first"
        if self._sight.click_point(node, item.box) is None:
            return COVERED
        return ""

    def _describe_blocked(self, item: Item, parts: Parts) -> str:
        node = self._nodes[item.ref]
        return f"the {node.role} {node.name[:80]!r} is {self._explain_block(item, parts)}"

    def _describe_disabled(self, one: Explained) -> str:
        node = self._nodes[one.item.ref]
        return "" if node.is_enabled else f"the {node.role} {(node.name or node.description)[:80]!r} is disabled"

    def _is_behind_modal(self, node: Node) -> bool:
        top = (node, *self._tree.ancestors(node))[-1]
        if top.window in self._behind or node.window in self._behind:
            return True
        return not top.has(State.MODAL) and top.app in self._modal_apps

    def _make_candidate(self, one: Explained) -> Candidate:
        node = self._nodes[one.item.ref]
        point = self._sight.click_point(node, one.item.box)
        assert point is not None
        title = next((w.title for w in self._windows if w.window_id == node.window), "")
        return Candidate(
            point=point,
            box=one.item.box,
            confidence=round(max(0.3, 1 - one.cost / 4), 3),
            method=GroundingMethod.ACCESSIBILITY,
            label=node.name or node.description,
            role=node.role,
            window=title,
            disabled=not node.is_enabled,
            checked=node.has(State.CHECKED) if node.role in TICKED else None,
        )


def _is_plain(one: Explained) -> bool:
    """Return whether little of the explanation comes from around the widget, and less where it is only a text."""
    return one.cost <= (_SURE_COST if one.item.is_active else _SURE_TEXT_COST)


_BROWSER_WORDS = frozenset({
    "browser", "tab", "tabs", "address", "url", "location", "bar", "bookmark", "bookmarks", "reload", "refresh", "back",
    "chromium", "chrome", "firefox", "extension", "extensions", "forward", "homepage", "history", "downloads", "menu",
    "toolbar", "site",
})  # fmt: skip
_ICON_WORDS = frozenset({"icon", "symbol", "glyph", "pictogram", "logo"})


def _is_elsewhere(item: Item, description: str, parts: Parts, around: TreeSurroundings) -> bool:
    """Return whether something that is no widget may be meant instead: a drawing in a page, where only the browser's
    own controls fit and the description has no word for browsers; an icon, where only a text fits.
    """
    said = frozenset(normal(description).split())
    if item.is_active and around.is_in_page(item) is False and not said & _BROWSER_WORDS:
        return normal(description) not in item.names and "browser" not in parts.structures
    return bool(said & _ICON_WORDS) and bool(item.names) and item.role not in BUTTONS and not item.meanings


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
        return node.role.endswith("menu item") and self._is_floating(node)

    def _is_floating(self, node: Node) -> bool:
        return any(other.role in _FLOATING for other in self._tree.ancestors(node))

    def visible_part(self, node: Node) -> Rect | None:
        """Return the part of the node's box inside its parents, its window and the display; None for none."""
        if node.box is None:
            return None
        part = node.box.intersect(self._screen)
        around = self._tree.ancestors(node)
        floats = self._is_floating(node)
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
        if not self._is_floating(node):
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
        floats = self._is_floating(node)
        return [w for w in above if w.visibility != "unmapped" and not (floats and self._is_own_popup(node, w))]

    def _is_own_popup(self, node: Node, window: WindowInfo) -> bool:
        pid = self._tree.apps[node.app].pid
        return window.kind == "popup" and (window.owner == node.window or (pid != 0 and window.pid == pid))
