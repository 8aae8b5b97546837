"""Words for widgets: kinds and the roles that they mean."""

from __future__ import annotations

import re
from collections.abc import Set

from acud.accessibility.labels import BUTTONS, CHECKS, CHOOSERS, HEADERS, INPUTS, ITEMS, MENU_ITEMS
from acud.language.quotation_marks import QUOTED

TEXT_FIELDS = INPUTS - {"spin button"}
TEXTS = frozenset({"label", "static", "heading", "paragraph", "caption", "text"})
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
    (CHECKS | {"table cell"}, "check mark, tick mark, checkmark, tickmark"),
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
    (TEXTS, "label, text"),
    (TEXTS | ITEMS, "message"),
    ({"image", "icon"}, "image, picture"),
    ({"progress bar"}, "progress bar"),
    (LISTS | {"combo box"}, "list"),
    (LISTS, "table"),
    ({"tool bar"}, "toolbar"),
    (WINDOWS, "dialog, window"),
)
"""By word; longer words are tried first."""

TYPED_INTO = INPUTS | {"combo box"}

TICKED = CHECKS | {"radio button", "radio menu item"}
OF_VERB = {"type": TYPED_INTO, "tick": TICKED}
"""The roles to look for, by the action."""

_KIND = "|".join(sorted((re.escape(word) for word in WORDS), key=len, reverse=True))
_NUMBER = r"first|second|third|fourth|fifth|sixth|seventh|last|top|topmost|bottom|bottommost|\d+(?:st|nd|rd|th)"
_BEFORE_A_NAME = re.compile(
    rf"(?:\b(?:{_KIND}|{_NUMBER}|the|a|an|that|this|which|is|says?|saying|"
    r"reads?|reading|called|named|titled|labell?ed|marked|showing|shows|with|for|of|to|on|in|text|label|name|title|words?|"
    r"caption|please|click|press|one|holding|containing|contains|item|entry|and)\b|[\s,:(])*",
    re.IGNORECASE,
)


def names_what_is_quoted(description: str) -> bool:
    """Return whether quoted words, if any, are the name of the target: not so in "the bin on the 'Ada' card", nor in
    "the field below 'Ada'".
    """
    found = QUOTED.search(description)
    return found is None or _BEFORE_A_NAME.fullmatch(description[: found.start()]) is not None
