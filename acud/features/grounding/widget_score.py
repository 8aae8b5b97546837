"""How well a widget fits one reading of a description (name, kind, place), and what of it can be seen and clicked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from acud.accessibility.nodes import Node, State, Tree
from acud.features.grounding.widget_words import CHOOSERS, INPUTS, INTERACTIVE, DescriptionReading, in_one_row
from acud.features.grounding.word_likeness import likeness, normal
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
    """Tells which part of a tree's widgets can be seen; `windows` are the display's, topmost first."""

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
        """Return the part of its box that its parents, its window and the display leave; None when nothing is left."""
        if node.box is None:
            return None
        part = node.box.intersect(self._screen)
        around = self._tree.ancestors(node)
        floats = self._floats(node)
        for other in () if floats else around:
            if part is not None and other.box is not None and other.role in _CLIPPING:
                part = part.intersect(other.box)
        if part is not None and not floats:
            part = self._in_window(node, part)
        return part if part is not None and min(part.w, part.h) >= _LEAST_PX else None

    def _in_window(self, node: Node, part: Rect) -> Rect | None:
        index = self._height.get(node.window)
        if index is None:
            return part
        window = self._windows[index]
        return None if window.visibility == "unmapped" else part.intersect(window.bounds)

    def click_point(self, node: Node, part: Rect) -> Point | None:
        """Return the middle of `part`, or another place in it that no window covers; None when all are covered."""
        above = [window.outside for window in self._above(node)]
        if not self._floats(node):
            above += self._floating
        for y in _STEPS:
            for x in _STEPS:
                point = Point(part.x + int(part.w * x), part.y + int(part.h * y))
                if not any(box.holds(point.x, point.y) for box in above):
                    return point
        return None

    def _above(self, node: Node) -> Sequence[WindowInfo]:
        index = self._height.get(node.window)
        above = self._windows[:index] if index is not None else ()
        floats = self._floats(node)
        return [w for w in above if w.visibility != "unmapped" and not (floats and self._is_own_popup(node, w))]

    def _is_own_popup(self, node: Node, window: WindowInfo) -> bool:
        """Tell whether `window` is what an opened menu or list of the widget's program is drawn in."""
        pid = self._tree.apps[node.app].pid
        return window.kind == "popup" and (window.owner == node.window or (pid != 0 and window.pid == pid))


_WRONG_KIND = 0.66
_PASSIVE = 0.8
_BARE_KIND = 0.9
_IMPLIED = 0.97
_DESCRIBED = 0.95
_ANCHOR = 0.85
_NEAR_PX = 400

_KNOWN_BY_A_PART = (
    INPUTS | CHOOSERS | {"link", "page tab", "check box", "radio button", "slider", "list item", "switch"}
)
"""What is safely called by a part of its name (`email` for `Email address`); a button `Delete` is not `Delete all`."""
_A_PART, _PART_BONUS = 0.7, 0.12


def is_interactive(node: Node) -> bool:
    """Tell whether a click on it is likely to do something by itself."""
    return node.role in INTERACTIVE or (node.role == "text" and node.has(State.EDITABLE))


class Scorer:
    """Scores the widgets of one tree. `boxes`: the visible part of each that can be seen, by handle. `blocked`: those
    that can't be used now, which nobody means who names only a kind.
    """

    def __init__(
        self,
        tree: Tree,
        boxes: Mapping[str, Rect],
        implied: Mapping[str, str],
        windows: Sequence[WindowInfo],
        blocked: Collection[str],
    ) -> None:
        self._tree = tree
        self._boxes = boxes
        self._implied = implied
        self._blocked = blocked
        self._titles = {window.window_id: normal(window.title) for window in windows}
        self._names = {node.ref: normal(node.name) for node in tree.nodes}
        self._heads = _headings(tree)

    def fitting(self, reading: DescriptionReading, nodes: Sequence[Node]) -> dict[str, float]:
        """Return the scores above 0 of `nodes`, by handle."""
        scores = {node.ref: self._of_itself(reading, node) for node in nodes}
        left = {ref: score for ref, score in scores.items() if score > 0}
        if reading.container is not None:
            left = self._contained(reading, [node for node in nodes if node.ref in left], left)
        if reading.relation:
            left = self._related(reading, [node for node in nodes if node.ref in left], left)
        return left

    # ---- name and kind ----------------------------------------------------------------------------------------------

    def _of_itself(self, reading: DescriptionReading, node: Node) -> float:
        if not reading.name:
            return _BARE_KIND if node.ref not in self._blocked and self._is_of_kind(reading, node) else 0.0
        score = self.name_score(reading.name, node)
        if node.secure and reading.name in ("password", "passphrase", "pin") and not node.name:
            score = max(score, _DESCRIBED)
        if reading.roles and node.role in _KNOWN_BY_A_PART and _A_PART <= score < 1 - _PART_BONUS:
            score += _PART_BONUS
        return score * self._kind(reading, node)

    def _is_of_kind(self, reading: DescriptionReading, node: Node) -> bool:
        """Tell whether it is of the kind asked for; a `text` that can't be edited is no field."""
        roles = reading.roles or frozenset()
        return node.role in roles and (node.role != "text" or "entry" not in roles or is_interactive(node))

    def name_score(self, name: str, node: Node) -> float:
        """Return how alike `name` and any of the widget's names are."""
        scores = [likeness(name, self._names[node.ref])]
        if node.description:
            scores.append(_DESCRIBED * likeness(name, normal(node.description)))
        if node.ref in self._implied:
            scores.append(_IMPLIED * likeness(name, normal(self._implied[node.ref])))
        if node.role == "combo box" and node.text:
            scores.append(_DESCRIBED * likeness(name, normal(node.text)))
        return max(scores)

    def _kind(self, reading: DescriptionReading, node: Node) -> float:
        if reading.roles is None:
            return 1.0 if is_interactive(node) else _PASSIVE
        return 1.0 if self._is_of_kind(reading, node) else _WRONG_KIND

    # ---- place ------------------------------------------------------------------------------------------------------

    def _contained(
        self, reading: DescriptionReading, nodes: Sequence[Node], scores: dict[str, float]
    ) -> dict[str, float]:
        """Return those in what the reading names; a row only where nothing that holds them has that name."""
        inside = [node.ref for node in nodes if self._is_within(reading, node)]
        if not inside and "row" in (reading.container or ()):
            inside = [node.ref for node in nodes if self._shares_row(reading.within, node)]
        return {ref: scores[ref] for ref in inside}

    def _is_within(self, reading: DescriptionReading, node: Node) -> bool:
        container = reading.container or frozenset()
        if container == {"row"}:
            return False
        around = self._tree.ancestors(node)
        if not reading.within:
            return any(other.role in container for other in around)
        if any(likeness(reading.within, self._names[other.ref]) >= _ANCHOR for other in around):
            return True
        title = self._titles.get(node.window, "")
        return self._is_title(reading.within, title) or self._is_headed(reading.within, node)

    def _is_title(self, wanted: str, title: str) -> bool:
        return bool(title) and (likeness(wanted, title) >= _ANCHOR or f" {wanted} " in f" {title} ")

    def _is_headed(self, wanted: str, node: Node) -> bool:
        heading = self._heads.get(node.ref)
        return heading is not None and likeness(wanted, self._names[heading]) >= _ANCHOR

    def _shares_row(self, wanted: str, node: Node) -> bool:
        own = self._boxes.get(node.ref)
        return own is not None and any(in_one_row(own, box) for box in self._anchors(wanted, node))

    def _anchors(self, wanted: str, node: Node) -> list[Rect]:
        """Return the boxes of what is called `wanted`, in the same window as `node`."""
        return [
            self._boxes[other.ref]
            for other in self._tree.nodes
            if other.ref in self._boxes and other.window == node.window and other.ref != node.ref
            and self.name_score(wanted, other) >= _ANCHOR
        ]  # fmt: skip

    def _related(
        self, reading: DescriptionReading, nodes: Sequence[Node], scores: dict[str, float]
    ) -> dict[str, float]:
        """Return the best of those on the right side of the anchor: the nearest."""
        names = _anchor_names(reading.anchor)
        gaps = {}
        for node in nodes:
            own = self._boxes[node.ref]
            found = [_gap(reading.relation, own, box) for name in names for box in self._anchors(name, node)]
            near = [gap for gap in found if gap is not None]
            if near:
                gaps[node.ref] = min(near)
        best = max((scores[ref] for ref in gaps), default=0.0)
        good = [ref for ref in gaps if scores[ref] >= best - 0.05]
        if not good:
            return {}
        nearest = min(gaps[ref] for ref in good)
        return {ref: scores[ref] for ref in good if gaps[ref] <= nearest + 2}


def _anchor_names(anchor: str) -> tuple[str, ...]:
    """Return the anchor's name with and without its kind: `the name field` is called `name` or `name field`."""
    words = anchor.split()
    shorter = [" ".join(words[:-count]) for count in (1, 2) if len(words) > count and words[-1] in _KIND_WORDS]
    return (anchor, *shorter)


_KIND_WORDS = frozenset(
    {
        "field",
        "button",
        "box",
        "checkbox",
        "label",
        "link",
        "tab",
        "heading",
        "dropdown",
        "input",
        "item",
        "row",
        "slider",
    }
)


def _in_one_column(a: Rect, b: Rect) -> bool:
    return min(a.right, b.right) - max(a.x, b.x) > 0


def _gap(relation: str, box: Rect, anchor: Rect) -> int | None:
    """Return how far `box` is from `anchor` in that direction, or None when it isn't there."""
    gaps = {
        "left": (anchor.x - box.right, in_one_row(box, anchor)),
        "right": (box.x - anchor.right, in_one_row(box, anchor)),
        "above": (anchor.y - box.bottom, _in_one_column(box, anchor)),
        "below": (box.y - anchor.bottom, _in_one_column(box, anchor)),
    }
    if relation == "beside":
        sides = [gap for gap, fits in (gaps["left"], gaps["right"]) if fits and -4 <= gap <= _NEAR_PX]
        return min(sides, default=None)
    gap, fits = gaps[relation]
    return max(gap, 0) if fits and -4 <= gap <= _NEAR_PX else None


def _headings(tree: Tree) -> dict[str, str]:
    """Return by handle the heading that each widget stands under in its document."""
    found: dict[str, str] = {}
    heading = ""
    for node in tree.nodes:
        if node.parent == -1:
            heading = ""
        if node.role == "heading":
            heading = node.ref
        elif heading:
            found[node.ref] = heading
    return found


TYPED_INTO = INPUTS | {"combo box"}
"""What `type` may look for."""
