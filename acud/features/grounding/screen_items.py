"""The things on a screen, with their places, names and surroundings, from widgets or from pixels."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from acud.accessibility.labels import BUTTONS, HEADERS, in_one_row, is_interactive
from acud.accessibility.nodes import Node, State, Tree
from acud.features.grounding.icon_words import meanings_of_name
from acud.features.grounding.word_likeness import normal
from acud.types import Rect

_ROWS = frozenset({"list item", "table row", "tree item"})
_CELLS = frozenset({"table cell", "tree item"})
_PAGES = frozenset({"document web", "document frame"})
_GROUPS = frozenset({"panel", "grouping", "landmark", "section", "form", "heading", "menu"})
_RECORD = frozenset({"list item", "table row", "tree item", "row", "option pane", "article"})
_TABLES = frozenset({"table", "tree", "tree table", "list", "list box"})
_TELLS = HEADERS | {"table cell", "list item", "tree item", "link", "page tab"}
"""Roles that react to a click and still name what is beside them."""
_IN_LINES = _RECORD | HEADERS | {"table cell"}
_MOST_IN_RECORD = 24
"""Things in one record (a row, a card) at most; a larger group is a part of the window."""

OWN, RECORD, GROUP, LINE, WINDOW = 0.0, 0.3, 0.5, 0.7, 0.8
"""The cost of explaining a word by the thing itself, by its record, its group, its line, its window."""


class Item(Struct, frozen=True):
    """A thing on the screen. `names`: its normal texts. `meanings`: its icon's. `is_active`: it reacts to a click."""

    ref: str
    box: Rect
    role: str
    names: tuple[str, ...] = ()
    meanings: frozenset[str] = frozenset()
    is_active: bool = True
    is_enabled: bool = True
    is_checked: bool = False
    is_selected: bool = False
    window: int = 0
    may_be: frozenset[str] = frozenset()
    """Other roles that a thing without a widget may have."""
    text: int = -1
    """Which text names a thing without a widget (-1: none, or it is a widget)."""
    is_labelled: bool = True
    """Whether it has a name apart from its content."""
    sorts: frozenset[str] = frozenset()
    """Words for its value, by how that is written."""
    shape: Mapping[str, float] = {}
    """The possible meanings of its icon by its shape alone, each with its likeness."""


ShapeOf = Callable[[Rect], Mapping[str, float]]
"""Returns the possible meanings of the icon in a box of the display by its shape, each with its likeness."""
MOST_ICON_PX = 64
"""Anything larger is more than an icon."""


_WITH_ICONS = BUTTONS | {"icon", "image"}


def with_shape(item: Item, shape_of: ShapeOf) -> Item:
    """Return `item` with the meanings of its icon's shape, if it has the size of an icon."""
    if not item.is_active or max(item.box.w, item.box.h) > MOST_ICON_PX or item.box.w > 1.6 * item.box.h:
        return item
    if item.role not in _WITH_ICONS and any(c.isalnum() for name in item.names for c in name):
        return item
    return replace(item, shape=shape_of(item.box))


class Surroundings:
    """Measures how near a named thing is to an item: its record, its group, its line, its window."""

    def __init__(self, items: Sequence[Item], titles: Mapping[int, str]) -> None:
        self.items = items
        self._labels: dict[int, Sequence[Rect]] = {}
        self._titles = {window: frozenset(normal(title).split()) for window, title in titles.items()}

    def cost(self, item: Item, other: Item) -> float | None:
        """Return the cost of explaining a word of `item` by `other`'s name; None when they are not connected."""
        if item.window != other.window:
            return None
        return beside_cost(item.box, other.box, self._label_boxes(item.window))

    def _label_boxes(self, window: int) -> Sequence[Rect]:
        if window not in self._labels:
            self._labels[window] = [
                one.box for one in self.items if one.window == window and one.names and not one.is_active
            ]
        return self._labels[window]

    def is_in_row(self, item: Item, number: int) -> bool:
        """Return whether `item` is in the table row of that number (-1: the last)."""
        return False

    def is_cell(self, item: Item) -> bool:
        """Return whether `item` is a table cell, or in one: then its column and row identify it."""
        return item.role in _CELLS

    def is_in_page(self, item: Item) -> bool | None:
        """Return whether `item` is in the browser's page, not in its own controls; None without a page."""
        return None

    def lists(self) -> Sequence[Sequence[Item]]:
        found: dict[tuple[int, int, str], list[Item]] = {}
        for item in self.items:
            if item.role in _ROWS:
                found.setdefault((item.window, item.box.x, item.role), []).append(item)
        return [sorted(rows, key=lambda item: item.box.y) for rows in found.values()]

    def in_title(self, item: Item, word: str) -> bool:
        return word in self._titles.get(item.window, frozenset())


class TreeSurroundings(Surroundings):
    """The surroundings by a tree of widgets: `nodes` by the refs of its items."""

    def __init__(self, items: Sequence[Item], titles: Mapping[int, str], tree: Tree) -> None:
        super().__init__(items, titles)
        self._tree = tree
        self._at = {node.ref: at for at, node in enumerate(tree.nodes)}
        self._sizes = _count_descendants(tree)
        self._controls = {
            (node.window, node.name) for node in tree.nodes
            if node.name and is_interactive(node) and node.role not in _TELLS
        }  # fmt: skip
        self._heading = _find_headings(tree)
        self._rows: dict[int, Sequence[Rect]] = {}
        self._heads_of: dict[int, Sequence[Item]] = {}

    def cost(self, item: Item, other: Item) -> float | None:
        """Return how near the two are in the tree, else on the screen."""
        a, b = self._at[item.ref], self._at[other.ref]
        if self._tree.nodes[a].app != self._tree.nodes[b].app or item.window != other.window:
            return None
        common = self._common_ancestor(a, b)
        node = self._tree.nodes[common] if common is not None else None
        if common == b:  # `other` is around it
            return RECORD if self._tree.nodes[b].role in _GROUPS else GROUP
        named = (item.window, self._tree.nodes[b].name) in self._controls and self._tree.nodes[b].name not in item.names
        if (named or self._is_of_a_control(b)) and not (node is not None and node.role in _RECORD):
            return None  # another control's name does not explain this one
        if (
            node is not None
            and (node.role in _RECORD or self._sizes[common or 0] <= _MOST_IN_RECORD)
            and node.parent >= 0
            and (node.role not in _TABLES or _on_one_line(item.box, other.box))
        ):
            return RECORD + self._sizes[common or 0] / 60
        if node is not None and node.role in _TABLES:
            return self._in_table(common or 0, item, other)
        if self._heading.get(a) == b:
            return GROUP
        return beside_cost(item.box, other.box, self._label_boxes(item.window))

    def _is_of_a_control(self, at: int) -> bool:
        """Return whether the node, or one around it, is a control that names only itself."""
        while at >= 0:
            node = self._tree.nodes[at]
            if node.role in _TELLS or node.role in _RECORD:
                return False
            if is_interactive(node):
                return True
            at = node.parent
        return False

    def _in_table(self, table: int, item: Item, other: Item) -> float | None:
        if _on_one_line(item.box, other.box):
            return RECORD
        is_head = other in self._column_heads(table)
        if is_head and min(item.box.right, other.box.right) - max(item.box.x, other.box.x) > 0.5 * min(
            item.box.w, other.box.w
        ):
            return RECORD
        return GROUP if other.role in HEADERS else None

    def is_in_row(self, item: Item, number: int) -> bool:
        """Return whether `item` is in the row of that number (-1: the last) of its table, headers not counted."""
        table = self._table_of(item)
        if table is None:
            return False
        lines = self._table_lines(table)
        at = number - 1 if number > 0 else len(lines) + number
        return 0 <= at < len(lines) and in_one_row(lines[at], item.box)

    def is_cell(self, item: Item) -> bool:
        """Return whether `item` is a table cell, or in one: then its column and row identify it."""
        around = self._tree.ancestors(self._tree.nodes[self._at[item.ref]])
        return item.role in _CELLS or any(node.role in _CELLS for node in around)

    def is_in_page(self, item: Item) -> bool | None:
        """Return whether `item` is in the page that a browser shows; None where no page is."""
        if not any(node.role in _PAGES for node in self._tree.nodes):
            return None
        around = self._tree.ancestors(self._tree.nodes[self._at[item.ref]])
        return any(node.role in _PAGES for node in around)

    def lists(self) -> Sequence[Sequence[Item]]:
        """Return the rows of each list, from the top; for a table that has only cells, the first cell of each line."""
        tables = {
            table for item in self.items if item.role in _IN_LINES and (table := self._table_of(item)) is not None
        }
        found = []
        for table in sorted(tables):
            lines = self._table_lines(table)
            inside = [one for one in self.items if one.role in _RECORD | _CELLS and self._table_of(one) == table]
            firsts = [
                min((one for one in inside if in_one_row(line, one.box)), key=lambda one: (-one.box.w, one.box.x))
                if any(one.role in _ROWS for one in inside)
                else min((one for one in inside if in_one_row(line, one.box)), key=lambda one: one.box.x)
                for line in lines
            ]
            is_option = any(node.role == "combo box" for node in self._tree.ancestors(self._tree.nodes[table]))
            if len(firsts) > 1 and not is_option:
                found.append(firsts)
        return found

    def _table_of(self, item: Item) -> int | None:
        at = self._tree.nodes[self._at[item.ref]].parent
        while at >= 0 and self._tree.nodes[at].role not in _TABLES:
            at = self._tree.nodes[at].parent
        return at if at >= 0 else None

    def _table_lines(self, table: int) -> Sequence[Rect]:
        """Return a box of each line of the table, from the top, without the line of its headers."""
        if table not in self._rows:
            inside = [one for one in self.items if one.role in _IN_LINES and self._table_of(one) == table]
            heads = [one.box for one in inside if one.role in HEADERS]
            lines: list[Rect] = []
            for one in sorted(inside, key=lambda one: one.box.y):
                if not any(in_one_row(one.box, other) for other in (*heads, *lines)):
                    lines.append(one.box)
            self._rows[table] = lines
        return self._rows[table]

    def _column_heads(self, table: int) -> Sequence[Item]:
        """Return the items that name the columns of the table: its headers, else the cells of its first line."""
        if table not in self._heads_of:
            inside = [one for one in self.items if one.role in _IN_LINES and self._table_of(one) == table]
            heads = [one for one in inside if one.role in HEADERS]
            cells = [one for one in inside if one.role == "table cell"]
            first = min((one.box.y for one in cells), default=0)
            self._heads_of[table] = heads or [one for one in cells if one.box.y < first + 4]
        return self._heads_of[table]

    def _common_ancestor(self, a: int, b: int) -> int | None:
        around = {a}
        node = self._tree.nodes[a]
        while node.parent >= 0:
            around.add(node.parent)
            node = self._tree.nodes[node.parent]
        at = b
        while at not in around:
            at = self._tree.nodes[at].parent
            if at < 0:
                return None
        return at


def beside_cost(box: Rect, label: Rect, texts: Sequence[Rect]) -> float | None:
    """Return the cost of explaining the thing at `box` by the text at `label`: before it on its line, behind it, or
    above it and no further right, as the title of a card; None when it is further away.
    """
    if _on_one_line(box, label):
        gap = box.x - label.right
        if gap >= -4:
            between = sum(label.right <= one.x and one.right <= box.x and in_one_row(one, label) for one in texts)
            return LINE + max(gap, 0) / 1000 + 0.2 * min(between, 2)
        return LINE + 0.25 + max(label.x - box.right, 0) / 1000
    down, across = box.y - label.bottom, max(0, box.x - label.right)
    if -4 <= down <= _TITLE_DOWN_PX and label.x <= box.x + 4 and across <= _TITLE_ACROSS_PX:
        return LINE + 0.15 + (max(down, 0) + across) / 1000
    return None


_TITLE_DOWN_PX, _TITLE_ACROSS_PX = 44, 260


def _on_one_line(a: Rect, b: Rect) -> bool:
    return in_one_row(a, b) and max(a.h, b.h) <= 4 * max(min(a.h, b.h), 12)


def _count_descendants(tree: Tree) -> list[int]:
    """Return the number of nodes in each node's subtree, itself included; nodes are in document order."""
    sizes = [1] * len(tree.nodes)
    for at in range(len(tree.nodes) - 1, -1, -1):
        parent = tree.nodes[at].parent
        if parent >= 0:
            sizes[parent] += sizes[at]
    return sizes


def _find_headings(tree: Tree) -> dict[int, int]:
    found: dict[int, int] = {}
    heading = -1
    for at, node in enumerate(tree.nodes):
        if node.parent == -1:
            heading = -1
        if node.role == "heading":
            heading = at
        elif heading >= 0:
            found[at] = heading
    return found


def tree_items(tree: Tree, boxes: Mapping[str, Rect], implied: Mapping[str, str]) -> list[Item]:
    """Return the visible items of `tree`. `boxes`: visible parts by handle; `implied`: names of nameless ones."""
    return [_make_item(node, boxes[node.ref], implied) for node in tree.nodes if node.ref in boxes]


def _make_item(node: Node, box: Rect, implied: Mapping[str, str]) -> Item:
    label = implied.get(node.ref, "")
    texts = [node.name, node.description, label]
    value = "" if node.secure else node.text
    if node.role in _TOLD_BY_VALUE:
        texts.append(value)
    meanings: frozenset[str] = frozenset()
    if max(box.w, box.h) <= MOST_ICON_PX and box.w <= 2 * box.h and (is_interactive(node) or node.role == "image"):
        meanings = meanings_of_name(node.name) | meanings_of_name(node.description)
    is_active = is_interactive(node)
    return Item(
        node.ref, box, "static" if node.role == "text" and not is_active else node.role,
        tuple(dict.fromkeys(name for name in map(normal, texts) if name)), meanings,
        is_active, node.is_enabled, node.has(State.CHECKED), node.has(State.SELECTED), node.window,
        is_labelled=bool(label or node.description or (node.name and node.role != "combo box")),
        sorts=value_words(node.name) | value_words(value) | value_words(node.description),
    )  # fmt: skip


_TOLD_BY_VALUE = frozenset({"combo box", "table cell"})


_SORTS = (
    (r"(?:utf|ucs|iso|windows|cp|koi|mac|latin|ascii|big5|gb|shift|euc)(?:[-_ ]?[\w-]{0,10})?",
     r"(?=.*(?:\d|ascii|latin))", "encoding charset character characters"),
    (r"(?:crlf|lf|cr)", "", "ending endings line"),
    (r"(?:spaces|tab size|tabs?)[: ]+\d+", "", "indent indentation"),
    (r"(?:ln|line)\W*\d+.*", "", "cursor position line"),
    (r"[a-z]{1,3}\d{1,5}(?::[a-z]{1,3}\d{1,5})?", "", "cell reference"),
    (r"m{1,2} ?/ ?(?:y{2}|y{4})", "", "expiry expiration expires date valid"),
    (r"(?:d{1,2}|m{1,2}|y{2,4})[./-](?:d{1,2}|m{1,2}|y{2,4})[./-](?:d{1,2}|m{1,2}|y{2,4})", "", "date day"),
    (r"\d{1,4}[./-]\d{1,2}[./-](?:\d{1,4})?", "", "date day"),
    (r"\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?: \d{4})?", "", "date day"),
    (r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}(?:,? \d{4})?", "", "date day"),
    (r"\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?", "", "time hour clock"),
    (r"[\w.+-]+@[\w-]+\.[\w.]+", "", "email mail"),
    (r"(?:https?://|www\.)\S+", "", "url link website web"),
    (r"\d{1,3}(?:\.\d{1,3}){3}(?:/\d+)?", "", "ip"),
    (r"\+?[\d ()/-]{7,20}", r"(?=(?:\D*\d){6})", "phone telephone"),
    (r"(?:\d{4}[ -]?){4}", "", "card"),
    (r"\d+(?:[.,]\d+)? ?(?:b|kb|mb|gb|tb|kib|mib|gib|bytes)", "", "size"),
    (r"\d+(?:[.,]\d+)? ?%", "", "percentage percent zoom"),
    (r"[€$£¥] ?\d[\d.,]*|\d[\d.,]* ?(?:€|\$|£|eur|usd|chf|gbp)", "", "price cost amount sum"),
    (r"v ?\d+(?:\.\d+)+", "", "version"),
    (r"[-+]?\d[\d.,]*", "", "number value figure amount cost price count"),
)  # fmt: skip
"""The pattern of the whole value, a further condition, and the words for it."""
_COMPILED = tuple((re.compile(f"{also}(?:{pattern})", re.IGNORECASE), frozenset(words.split()))
                  for pattern, also, words in _SORTS)  # fmt: skip
_LONGEST = 60


@lru_cache(maxsize=8192)
def value_words(text: str) -> frozenset[str]:
    """Return the words for the kind of `text` by how it is written (UTF-8: an encoding); empty for an ordinary text."""
    bare = " ".join(text.split())
    if not bare or len(bare) > _LONGEST:
        return frozenset()
    found = (words for pattern, words in _COMPILED if pattern.fullmatch(bare))
    return frozenset().union(*found)
