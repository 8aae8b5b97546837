"""Words for widgets: kinds and the roles that they mean, implied names, and the readings of a description.

A widget that its toolkit connects with no label is called after the label beside or above it. A description has more
than one reading where its words allow it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from msgspec import Struct
from msgspec.structs import replace

from acud.accessibility.nodes import Node, State
from acud.features.grounding.word_likeness import normal
from acud.types import Rect

BUTTONS = frozenset({"push button", "toggle button", "push button menu"})
INPUTS = frozenset({"entry", "text", "password text", "spin button", "editbar", "date editor", "document text"})
TEXT_FIELDS = INPUTS - {"spin button"}
ITEMS = frozenset({"list item", "table row", "table cell", "tree item", "icon", "option pane"})
MENU_ITEMS = frozenset({"menu item", "check menu item", "radio menu item", "menu", "tearoff menu item"})
CHECKS = frozenset({"check box", "check menu item", "switch", "toggle button"})
CHOOSERS = frozenset({"combo box", "list box", "push button menu"})
TEXTS = frozenset({"label", "static", "heading", "paragraph", "caption", "text"})
HEADERS = frozenset({"table column header", "column header", "row header", "table row header"})
MENUS = frozenset({"menu", "menu item", "push button menu", "push button", "toggle button", "combo box", "popup menu"})
GROUPS = frozenset({"panel", "grouping", "frame", "section", "form", "landmark", "filler", "layered pane"})
WINDOWS = frozenset(
    {"frame", "window", "dialog", "alert", "file chooser", "document web", "info bar", "internal frame"}
)
LISTS = frozenset({"list", "list box", "table", "tree", "tree table"})


def _by_word(*kinds: tuple[Set[str], str]) -> dict[str, frozenset[str]]:
    return {word: frozenset(roles) for roles, words in kinds for word in words.split(", ")}


WORDS = _by_word(
    (BUTTONS, "button, btn, toolbar button, tool button, push button, toggle button"),
    (CHECKS, "toggle, switch, checkbox, check box, tick box"),
    (BUTTONS | {"icon", "image"}, "icon"),
    (MENUS, "menu"),
    (MENU_ITEMS, "menu item, menu entry, menu option, check item"),
    (ITEMS | MENU_ITEMS, "item"),
    (INPUTS | ITEMS | MENU_ITEMS, "entry"),
    (ITEMS | MENU_ITEMS | {"radio button", "check box"}, "option"),
    ({"page tab"}, "tab"),
    ({"radio button", "radio menu item"}, "radio button, radio, radio option"),
    ({"link"}, "link, hyperlink"),
    (TEXT_FIELDS, "text field, text box, textbox, text area, text input, edit box, edit field"),
    (TEXT_FIELDS, "search box, search field, search bar"),
    (INPUTS, "input field, input box, input"),
    (INPUTS | CHOOSERS, "field"),
    (INPUTS | CHOOSERS | CHECKS, "box"),
    ({"spin button"}, "spinner, spin box, spin button"),
    ({"spin button", "entry"}, "number field"),
    (CHOOSERS, "combo box, combobox, combo, dropdown, drop-down, drop down, dropdown list, drop-down list"),
    (CHOOSERS, "select, selector, select box"),
    (CHOOSERS | {"menu"}, "dropdown menu, drop-down menu"),
    ({"slider"}, "slider"),
    (ITEMS, "list item, list entry, row, file, folder"),
    ({"table cell"}, "cell"),
    ({"tree item", "table cell", "list item"}, "tree item"),
    (HEADERS | {"push button"}, "column header, column"),
    (HEADERS | {"heading", "push button"}, "header"),
    ({"heading", "label"}, "heading, title"),
    (TEXTS, "label, text, message"),
    ({"image", "icon"}, "image, picture"),
    ({"progress bar"}, "progress bar"),
    (LISTS, "list, table"),
    ({"tool bar"}, "toolbar"),
    (WINDOWS, "dialog, window"),
)
"""By word; longer words are tried first."""

CONTAINERS = _by_word(
    (WINDOWS, "dialog, dialog box, window, popup, app, application"),
    ({"document web", "document frame", "page"}, "page"),
    (GROUPS | WINDOWS, "form"),
    (GROUPS, "group, group box, section, panel, pane, area, box, frame, card"),
    (GROUPS | LISTS, "sidebar"),
    ({"tool bar"}, "toolbar, tool bar"),
    (MENUS, "menu"),
    ({"menu bar"}, "menu bar, menubar"),
    ({"page tab"}, "tab"),
    (LISTS, "list, table, tree"),
    ({"row"}, "row, line"),
)
"""Words for what something is in; `row` is no role here but a place on the screen."""

INTERACTIVE = (
    BUTTONS | INPUTS | ITEMS | MENU_ITEMS | CHECKS | CHOOSERS | HEADERS | {"page tab", "radio button", "link", "slider"}
) - {"text"}
"""What reacts by its role; a `text` does when it can be edited."""


_LABELS = frozenset({"label", "static", "paragraph", "heading", "caption", "section", "text"})
_FIELDS = (INPUTS | CHOOSERS | {"slider", "switch", "check box", "progress bar"}) - {"list box"}
_SHOW_A_VALUE = frozenset({"combo box"})
"""What some toolkits name by its value."""
_HOLD_LABELS = frozenset({"list item", "push button", "toggle button", "menu item", "table row", "tree item", "icon"})
_TICKED = frozenset({"check box", "radio button", "switch"})
_MOST_BEHIND_PX = 24
_MOST_LEFT_PX = 260
_MOST_ABOVE_PX = 28
_MOST_INDENT_PX = 40
_MOST_LETTERS = 60


def implied_names(nodes: Sequence[Node]) -> Mapping[str, str]:
    """Return by handle what nameless widgets are called: fields by the nearest label on the left, else the one above,
    each label serving one field; items and buttons by the labels inside them.
    """
    return {**_by_labels_behind(nodes), **_by_labels_beside(nodes), **_by_labels_inside(nodes)}


def _by_labels_behind(nodes: Sequence[Node]) -> dict[str, str]:
    """Return the labels right behind nameless check boxes, radio buttons and switches."""
    labels = [node for node in nodes if node.box is not None and _is_label(node)]
    found = {}
    for node in nodes:
        if node.box is None or node.name or node.role not in _TICKED:
            continue
        gaps = [
            (other.box.x - node.box.right, other.name)
            for other in labels
            if other.box is not None and _are_together(node, other) and in_one_row(node.box, other.box)
        ]
        near = [pair for pair in gaps if -2 <= pair[0] <= _MOST_BEHIND_PX]
        if near:
            found[node.ref] = min(near)[1]
    return found


def _by_labels_beside(nodes: Sequence[Node]) -> dict[str, str]:
    labels = [node for node in nodes if node.box is not None and _is_label(node)]
    nearest: dict[str, tuple[int, Node, Node]] = {}
    shared = _shared_names(nodes)
    for node in nodes:
        if node.box is None or not (_wants_a_label(node) or (node.role in _FIELDS and node.name in shared)):
            continue
        found = _nearest(node.box, [other for other in labels if _are_together(node, other)])
        if found is not None:
            gap, label = found
            known = nearest.get(label.ref)
            if known is None or gap < known[0]:
                nearest[label.ref] = (gap, node, label)
    return {node.ref: label.name for _, node, label in nearest.values()}


def _shared_names(nodes: Sequence[Node]) -> frozenset[str]:
    """Return the names that several fields have: some toolkits name each after the group that they are in."""
    names = [node.name for node in nodes if node.role in _FIELDS and node.name]
    return frozenset(name for name in names if names.count(name) > 1)


def _wants_a_label(node: Node) -> bool:
    return node.role in _FIELDS and (not node.name or node.role in _SHOW_A_VALUE)


def _by_labels_inside(nodes: Sequence[Node]) -> dict[str, str]:
    """Return the joined labels of nameless items; `nodes` are in document order."""
    inside: dict[str, list[str]] = {}
    holder: Node | None = None
    for node in nodes:
        if holder is not None and node.depth <= holder.depth:
            holder = None
        if holder is None and node.role in _HOLD_LABELS and not node.name:
            holder = node
        elif holder is not None and _is_label(node):
            inside.setdefault(holder.ref, []).append(node.name)
    return {ref: " ".join(names)[:_MOST_LETTERS] for ref, names in inside.items()}


def _is_label(node: Node) -> bool:
    return node.role in _LABELS and not node.has(State.EDITABLE) and 0 < len(node.name) <= _MOST_LETTERS


def _are_together(node: Node, other: Node) -> bool:
    return (node.app, node.window) == (other.app, other.window)


def _nearest(box: Rect, labels: Iterable[Node]) -> tuple[int, Node] | None:
    """Return the nearest label with how far it is; one above counts as farther than any on the left."""
    placed = [(label, label.box) for label in labels if label.box is not None]
    left = [(box.x - at.right, label) for label, at in placed if in_one_row(box, at) and box.x - at.right >= -4]
    near = [(gap, label) for gap, label in left if gap <= _MOST_LEFT_PX]
    if not near:
        above = [(box.y - at.bottom, label) for label, at in placed if abs(at.x - box.x) <= _MOST_INDENT_PX]
        near = [(gap + _MOST_LEFT_PX, label) for gap, label in above if -4 <= gap <= _MOST_ABOVE_PX]
    return min(near, key=lambda pair: pair[0]) if near else None


def in_one_row(a: Rect, b: Rect) -> bool:
    """Tell whether two boxes share at least half of the lower one's height."""
    common = min(a.bottom, b.bottom) - max(a.y, b.y)
    return common >= 0.5 * min(a.h, b.h)


_POLITE = re.compile(
    r"^(?:please )?(?:(?:left |right |double |triple )?[ -]?(?:click|press|tap|select|choose|find|locate|open|focus)"
    r"(?: on| in| into)? (?=the |a |an |\"|'))",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|a|an|that|this) ", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“”‘`]([^\"“”’`]+)[\"“”’`]|(?:^|(?<=\s))'([^']+)'(?=\s|$)")
_ORDINALS = {
    **{word: index for index, word in enumerate(("first", "second", "third", "fourth", "fifth", "sixth"), 1)},
    **{f"{n}{end}": n for n, end in ((1, "st"), (2, "nd"), (3, "rd"), *((n, "th") for n in range(4, 21)))},
    "last": -1,
    "topmost": 1,
    "top": 1,
    "bottom": -1,
    "bottommost": -1,
}
_SIDES = {"leftmost": "left", "left": "left", "rightmost": "right", "right": "right"}
_RELATIONS = (
    (r"(?:immediately |directly |just )?(?:to the )?left of", "left"),
    (r"(?:immediately |directly |just )?(?:to the )?right of", "right"),
    (r"(?:immediately |directly |just |right )?above", "above"),
    (r"(?:immediately |directly |just |right )?(?:below|under|underneath|beneath)", "below"),
    (r"(?:right )?(?:next to|beside|near|alongside|in front of)", "beside"),
)
_RELATION = re.compile(
    r"^(?P<what>.+?) (?:(?:that is|which is|located) )?(?:"
    + "|".join(f"(?P<r{index}>{pattern})" for index, (pattern, _) in enumerate(_RELATIONS))
    + r") (?:the |a )?(?P<anchor>.+)$",
    re.IGNORECASE,
)  # fmt: skip
_CONTAINER = "|".join(sorted((re.escape(word) for word in CONTAINERS), key=len, reverse=True))
_WITHIN = re.compile(
    rf"^(?P<what>.+) (?:in|on|of|at|inside|within|from|under) (?:the |a )?(?P<name>.*?)\s*\b(?P<kind>{_CONTAINER})"
    r"(?: (?:for|of|with|called|named|titled|labell?ed) (?:the )?(?P<after>.+))?$",
    re.IGNORECASE,
)
_LOOSELY = re.compile(r"^(?P<what>.+?) (?:in|for|of|from|on|within|inside) (?:the |a )?(?P<name>.+)$", re.IGNORECASE)
_OWNER = re.compile(r"^(?P<name>.+?)['\u2019]s (?P<what>.+)$")
ANYWHERE = frozenset({"row", *GROUPS, *WINDOWS, *LISTS})
"""What something is in when no word says: a group, a window, or the row of a table."""
_KIND = "|".join(sorted((re.escape(word) for word in WORDS), key=len, reverse=True))
_SUFFIX = re.compile(rf"^(?P<name>.*?)\s*\b(?P<kind>{_KIND})$", re.IGNORECASE)
_PREFIX = re.compile(
    rf"^(?P<kind>{_KIND})"
    r"(?: (?:for|of|with|that says|which says|saying|reading|called|named|titled|labell?ed|marked|to)"
    r"(?: the| a| an| your)?(?: (?:text|label|name|title))?)? (?P<name>.+)$",
    re.IGNORECASE,
)


class DescriptionReading(Struct, frozen=True):
    """One way to read a description. `name`, `within` and `anchor` are normal texts; "" is none.

    `roles`: what kind it is (None: any). `number`: the how-manyth of several, from the top (-1: the last), 0 for none;
    `side` instead: the one most left or right. `relation`: where it is, seen from `anchor`. `container`: the roles of
    what it is in, named `within`. `is_quoted`: the name was given between quotation marks.
    """

    name: str
    roles: frozenset[str] | None = None
    kind: str = ""
    number: int = 0
    side: str = ""
    relation: str = ""
    anchor: str = ""
    within: str = ""
    container: frozenset[str] | None = None
    is_quoted: bool = False


def readings(description: str) -> tuple[DescriptionReading, ...]:
    """Return the readings of `description`, the plainest (it is the name itself) first."""
    text = " ".join(description.split())[:1000].rstrip(".!")
    core = _ARTICLE.sub("", _POLITE.sub("", text))
    whole = [DescriptionReading(normal(core))]
    return tuple(dict.fromkeys([*whole, *_placed(core), *_loosely(core)]))


def _placed(text: str) -> Iterator[DescriptionReading]:
    yield from _kinds(text)
    if found := _RELATION.match(text):
        relation = next(word for index, (_, word) in enumerate(_RELATIONS) if found[f"r{index}"])
        for reading in _kinds(found["what"]):
            yield replace(reading, relation=relation, anchor=_anchor(found["anchor"]))
    if found := _WITHIN.match(text):
        kind = found["kind"].lower()
        name = normal(_unquoted(found["after"] or found["name"]))
        for reading in _placed(found["what"]):
            if not reading.within:
                yield replace(reading, within=name, container=CONTAINERS[kind])


def _loosely(text: str) -> Iterator[DescriptionReading]:
    for pattern in (_LOOSELY, _OWNER):
        if found := pattern.match(text):
            name = _anchor(found["name"])
            for reading in _kinds(found["what"]):
                yield replace(reading, within=name, container=ANYWHERE)


def _unquoted(text: str) -> str:
    return _QUOTED.sub(lambda found: found[1] or found[2], text)


def _anchor(text: str) -> str:
    return normal(_unquoted(_ARTICLE.sub("", text)))


def _kinds(text: str) -> Iterator[DescriptionReading]:
    """Yield readings of a phrase without a place: the kind behind the name, before it, or not told."""
    text = _ARTICLE.sub("", text.strip())
    yield from _numbered(text)
    found = _QUOTED.search(text)
    if not names_what_is_quoted(text):
        return
    if found:
        rest = normal(text[: found.start()] + " " + text[found.end() :])
        yield from _quoted(normal(found[1] or found[2]), rest)
        return
    for pattern in (_SUFFIX, _PREFIX):
        if found := pattern.match(text):
            kind = found["kind"].lower()
            yield from _numbered(found["name"], kind)


_BEFORE_A_NAME = re.compile(
    rf"(?:\b(?:{_KIND}|{'|'.join(re.escape(word) for word in _ORDINALS)}|the|a|an|that|this|which|is|says?|saying|"
    r"reads?|reading|called|named|titled|labell?ed|marked|showing|shows|with|for|of|to|on|in|text|label|name|title|words?|"
    r"caption|please|click|press|one|holding|containing|contains|item|entry|and)\b|[\s,:(])*",
    re.IGNORECASE,
)


def names_what_is_quoted(description: str) -> bool:
    """Tell whether words in quotation marks, if there are any, are the name of what is meant: not so in "the bin on the
    'Ada' card", nor in "the field below 'Ada'".
    """
    found = _QUOTED.search(description)
    return found is None or _BEFORE_A_NAME.fullmatch(description[: found.start()]) is not None


def _quoted(name: str, rest: str) -> Iterator[DescriptionReading]:
    kinds = [word for word in sorted(WORDS, key=len, reverse=True) if re.search(rf"\b{re.escape(word)}\b", rest)]
    number = next((value for word, value in _ORDINALS.items() if word in rest.split()), 0)
    roles = WORDS[kinds[0]] if kinds else None
    yield DescriptionReading(name, roles, kinds[0] if kinds else "", number, is_quoted=True)


def _numbered(name: str, kind: str = "") -> Iterator[DescriptionReading]:
    roles = WORDS[kind] if kind else None
    plain = normal(_ARTICLE.sub("", name))
    if not roles or plain not in _ORDINALS:
        yield DescriptionReading(plain, roles, kind)
    first, _, rest = plain.partition(" ")
    if first in _ORDINALS:
        yield DescriptionReading(rest, roles, kind, number=_ORDINALS[first])
    if first in _SIDES:
        yield DescriptionReading(rest, roles, kind, side=_SIDES[first])
