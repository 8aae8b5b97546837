"""Words for roles: those in scenes, those that people write, and the roles of AT-SPI that they mean."""

from __future__ import annotations

from functools import cache

from acud.accessibility.nodes import ROLE_NAMES

WORDS = {
    "push button": "button",
    "push button menu": "button",
    "toggle button": "button",
    "entry": "textbox",
    "text": "textbox",
    "editbar": "textbox",
    "autocomplete": "textbox",
    "date editor": "textbox",
    "password text": "password",
    "check box": "checkbox",
    "radio button": "radio",
    "combo box": "combobox",
    "spin button": "spinbutton",
    "page tab": "tab",
    "page tab list": "tabs",
    "menu item": "menuitem",
    "check menu item": "menuitem",
    "radio menu item": "menuitem",
    "list item": "item",
    "list box": "listbox",
    "tree item": "item",
    "tree table": "table",
    "table cell": "cell",
    "table row": "row",
    "column header": "columnheader",
    "table column header": "columnheader",
    "tool bar": "toolbar",
    "menu bar": "menubar",
    "progress bar": "progressbar",
    "document web": "page",
    "document frame": "page",
    "landmark": "region",
    "panel": "group",
    "grouping": "group",
    "section": "group",
    "info bar": "alert",
    "notification": "alert",
}
"""The names that web pages and models use for AT-SPI's roles; the others keep theirs."""

_ALSO = {
    "textbox": ("text field", "text box", "text area", "entry", "field", "input", "search box"),
    "checkbox": ("tick box",),
    "combobox": ("combo", "dropdown", "drop-down", "select"),
    "spinbutton": ("spin box", "spinbox"),
    "radio": ("radio option",),
    "link": ("hyperlink",),
    "menuitem": ("menu entry",),
    "button": ("btn",),
}
"""Other words for the roles in scenes."""
_WIDER = {
    "switch": ("switch", "toggle button"),
    "toggle": ("switch", "toggle button"),
    "option": ("list item", "radio button", "menu item"),
    "dialog": ("dialog", "alert", "file chooser", "color chooser", "font chooser"),
    "window": ("frame", "window", "dialog"),
    "label": ("label", "static", "paragraph", "caption"),
    "password": ("password text",),
    "checkbox": ("check box", "switch"),
    "textbox": ("spin button", "password text", "document text"),
    "list": ("list", "list box"),
}
"""Further roles that a word means."""


@cache
def roles_of(word: str) -> frozenset[str]:
    """Return AT-SPI's roles that `word` means, empty for none. `-`, `_` and case do not matter."""
    wanted = _fold_word(word)
    shown = {shown for shown, others in _ALSO.items() if wanted in map(_fold_word, (shown, *others))} | {wanted}
    found = {role for role in ROLE_NAMES if _fold_word(role) == wanted or _fold_word(WORDS.get(role, role)) in shown}
    found.update(role for name in shown for role in _WIDER.get(name, ()))
    return frozenset(found)


def _fold_word(word: str) -> str:
    return word.casefold().replace("-", " ").replace("_", " ").replace(" ", "")
