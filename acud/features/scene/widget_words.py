"""Widgets in words: which can be acted on, and the line of text for one: role, label, value, unusual states."""

from __future__ import annotations

from acud.accessibility.nodes import PAGES
from acud.accessibility.roles import WORDS
from acud.base import untrusted_text
from acud.types.scene import AxElement

MAX_WORDS = 300
"""Characters of one element's words: as many as are read."""

_CONTROLS = frozenset(
    {
        *("push button", "push button menu", "toggle button", "check box", "radio button", "switch", "link", "slider"),
        *("entry", "password text", "editbar", "autocomplete", "date editor", "combo box", "spin button", "dial"),
        *("page tab", "menu item", "check menu item", "radio menu item", "terminal"),
    }
)
_HOLDERS = frozenset(
    {
        *("frame", "window", "dialog", "alert", "panel", "filler", "section", "grouping", "form", "article"),
        *("document web", "document frame", "document text", "document spreadsheet", "application", "viewport"),
        *("scroll pane", "split pane", "layered pane", "root pane", "option pane", "internal frame", "glass pane"),
        *("tool bar", "menu bar", "page tab list", "status bar", "title bar", "list", "list box", "tree", "table"),
        *("tree table", "table row", "canvas", "notification", "info bar", "popup menu", "description list", "log"),
        *("header", "footer", "html container", "drawing area", "redundant object", "embedded", "unknown", "extended"),
        "landmark",
    }
)
"""Roles of containers: a container's name is about its content."""
ROWS = frozenset({"table row", "list item", "tree item", "article", "description term", "description value"})
"""Roles whose texts are joined to one line."""
CELLS = frozenset({"table cell", "column header", "row header", "table column header", "table row header"})
_ALWAYS_LISTED = frozenset({"dialog", "alert", *PAGES})
_SILENT = frozenset({"scroll bar", "separator", "ruler", "arrow", "redundant object"})
_REACTS = frozenset({"focusable", "editable", "selectable", "checkable", "expandable"})
_SHOWN_STATES = ("focused", "checked", "selected", "pressed", "expanded", "required", "modal")


def can_act(widget: AxElement) -> bool:
    """Return whether the widget can be acted on, even if it is disabled now."""
    if widget.role in _CONTROLS:
        return True
    if widget.role in _SILENT or (widget.role in _HOLDERS and not (widget.label and widget.actions)):
        return False
    return bool(widget.actions) or not _REACTS.isdisjoint(widget.states)


def is_holder(widget: AxElement) -> bool:
    """Return whether the widget is a container: its name, if any, is about its content."""
    return widget.role in _HOLDERS


def is_silent(widget: AxElement) -> bool:
    """Return whether the widget and its content are left out."""
    return widget.role in _SILENT


def is_listed_unnamed(widget: AxElement) -> bool:
    """Return whether a container is listed even without a name."""
    return widget.role in _ALWAYS_LISTED


def describe_widget(widget: AxElement, label: str) -> str:
    """Return the line for the widget, named `label`, without its id."""
    value = f"= {quote(widget.value)}" if widget.value and widget.value != label else ""
    empty = f"placeholder {quote(widget.placeholder)}" if widget.placeholder and not widget.value else ""
    own = quote(label) if label and not (empty and label == widget.placeholder) else ""
    parts = [name_role(widget), own, value or empty, *list_states(widget)]
    return " ".join(part for part in parts if part)


def name_role(widget: AxElement) -> str:
    if widget.role == "toggle button" and "checkable" in widget.states:
        return "switch"
    if widget.role == "list item" and "selectable" in widget.states:
        return "option"
    return WORDS.get(widget.role, widget.role)


def list_states(widget: AxElement) -> list[str]:
    has = set(widget.states)
    found = [state for state in _SHOWN_STATES if state in has and not (state == "focused" and widget.role in PAGES)]
    is_readonly = "read_only" in has and name_role(widget) in ("textbox", "spinbutton")
    if can_act(widget) and has and not has & {"enabled", "sensitive"} and not (is_readonly and "focusable" in has):
        found.append("disabled")
    if "indeterminate" in has:
        found.append("mixed")
    if "expandable" in has and "expanded" not in has and widget.role != "combo box":
        found.append("collapsed")
    if is_readonly:
        found.append("readonly")
    return found


def quote(words: str) -> str:
    """Return words from a screen as a JSON string, clipped, without control characters except line breaks."""
    lines = ("".join(c if c.isprintable() else " " for c in line).split() for line in words.split("\n"))
    folded = "\n".join(" ".join(line) for line in lines)
    return untrusted_text.quote(folded[:MAX_WORDS] + ("…" if len(folded) > MAX_WORDS else ""))


def plain(words: str) -> str:
    """Return the case-folded letters and digits of `words`, to compare two readings."""
    return "".join(character for character in words.casefold() if character.isalnum())
