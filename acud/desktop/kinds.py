"""Words for kinds of widgets, and the roles that they mean."""

from __future__ import annotations

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

WORDS: dict[str, frozenset[str]] = {
    "button": BUTTONS,
    "btn": BUTTONS,
    "toolbar button": BUTTONS,
    "tool button": BUTTONS,
    "push button": BUTTONS,
    "toggle button": BUTTONS,
    "toggle": CHECKS,
    "switch": CHECKS,
    "icon": frozenset({"icon", "image", *BUTTONS}),
    "menu": MENUS,
    "menu item": MENU_ITEMS,
    "menu entry": MENU_ITEMS,
    "menu option": MENU_ITEMS,
    "item": ITEMS | MENU_ITEMS,
    "entry": INPUTS | ITEMS | MENU_ITEMS,
    "option": ITEMS | MENU_ITEMS | {"radio button", "check box"},
    "tab": frozenset({"page tab"}),
    "checkbox": CHECKS,
    "check box": CHECKS,
    "tick box": CHECKS,
    "radio button": frozenset({"radio button", "radio menu item"}),
    "radio": frozenset({"radio button", "radio menu item"}),
    "radio option": frozenset({"radio button", "radio menu item"}),
    "link": frozenset({"link"}),
    "hyperlink": frozenset({"link"}),
    "text field": TEXT_FIELDS,
    "text box": TEXT_FIELDS,
    "textbox": TEXT_FIELDS,
    "text area": TEXT_FIELDS,
    "text input": TEXT_FIELDS,
    "input field": INPUTS,
    "input box": INPUTS,
    "input": INPUTS,
    "field": INPUTS | CHOOSERS,
    "edit box": TEXT_FIELDS,
    "edit field": TEXT_FIELDS,
    "search box": TEXT_FIELDS,
    "search field": TEXT_FIELDS,
    "search bar": TEXT_FIELDS,
    "box": INPUTS | CHOOSERS | CHECKS,
    "spinner": frozenset({"spin button"}),
    "spin box": frozenset({"spin button"}),
    "spin button": frozenset({"spin button"}),
    "number field": frozenset({"spin button", "entry"}),
    "combo box": CHOOSERS,
    "combobox": CHOOSERS,
    "combo": CHOOSERS,
    "dropdown": CHOOSERS,
    "drop-down": CHOOSERS,
    "drop down": CHOOSERS,
    "dropdown list": CHOOSERS,
    "dropdown menu": CHOOSERS | {"menu"},
    "drop-down list": CHOOSERS,
    "drop-down menu": CHOOSERS | {"menu"},
    "select": CHOOSERS,
    "selector": CHOOSERS,
    "select box": CHOOSERS,
    "slider": frozenset({"slider"}),
    "list item": ITEMS,
    "list entry": ITEMS,
    "row": ITEMS,
    "file": ITEMS,
    "folder": ITEMS,
    "cell": frozenset({"table cell"}),
    "tree item": frozenset({"tree item", "table cell", "list item"}),
    "column header": HEADERS | {"push button"},
    "column": HEADERS | {"push button"},
    "header": HEADERS | {"heading", "push button"},
    "heading": frozenset({"heading", "label"}),
    "title": frozenset({"heading", "label"}),
    "label": TEXTS,
    "text": TEXTS,
    "message": TEXTS,
    "image": frozenset({"image", "icon"}),
    "picture": frozenset({"image", "icon"}),
    "progress bar": frozenset({"progress bar"}),
    "list": LISTS,
    "table": LISTS,
    "toolbar": frozenset({"tool bar"}),
    "dialog": WINDOWS,
    "window": WINDOWS,
}
"""By word; longer words are tried first."""

CONTAINERS: dict[str, frozenset[str]] = {
    "dialog": WINDOWS,
    "dialog box": WINDOWS,
    "window": WINDOWS,
    "popup": WINDOWS,
    "app": WINDOWS,
    "application": WINDOWS,
    "page": frozenset({"document web", "document frame", "page"}),
    "form": GROUPS | WINDOWS,
    "group": GROUPS,
    "group box": GROUPS,
    "section": GROUPS,
    "panel": GROUPS,
    "pane": GROUPS,
    "area": GROUPS,
    "box": GROUPS,
    "frame": GROUPS,
    "card": GROUPS,
    "sidebar": GROUPS | LISTS,
    "toolbar": frozenset({"tool bar"}),
    "tool bar": frozenset({"tool bar"}),
    "menu": MENUS,
    "menu bar": frozenset({"menu bar"}),
    "menubar": frozenset({"menu bar"}),
    "tab": frozenset({"page tab"}),
    "list": LISTS,
    "table": LISTS,
    "tree": LISTS,
    "row": frozenset({"row"}),
    "line": frozenset({"row"}),
}
"""Words for what something is in; `row` is no role here but a place on the screen."""

INTERACTIVE = (
    BUTTONS | INPUTS | ITEMS | MENU_ITEMS | CHECKS | CHOOSERS | HEADERS | {"page tab", "radio button", "link", "slider"}
) - {"text"}
"""What reacts by its role; a `text` does when it can be edited."""
