"""Side effects of an action: windows that came or went, dialogs with their words, the focus, what a field reads.

Titles, texts and names are words from the screen: data, bounded, and in a line of acud's own always quoted.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from acud.base.untrusted_text import quote
from acud.types.displays import XId

MAX_WORDS = 200
"""Characters of a text of a dialog."""
MAX_TOLD = 12
"""Texts, and buttons, of one dialog; also dialogs and windows of one action."""


class WindowChange(Struct, frozen=True, forbid_unknown_fields=True):
    """A window that opened, closed or got another title. `was`: its former title, if it changed."""

    change: Literal["opened", "closed", "retitled"]
    window_id: XId
    title: str
    kind: Literal["normal", "dialog", "popup"] = "normal"
    was: str = ""


class OpenDialog(Struct, frozen=True, forbid_unknown_fields=True):
    """A dialog that is open after the action. `is_new`: it was not there before. `window_id` 0: a part of a window.

    `unread`: why its words are not known ("": they are).
    """

    title: str
    texts: tuple[str, ...] = ()
    buttons: tuple[str, ...] = ()
    is_new: bool = False
    window_id: XId = 0
    unread: str = ""


class FocusNow(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the input focus is: in which window ("": in none), and in which widget (role and name; "": not known).

    `moved`: another window has it than before.
    """

    window: str = ""
    window_id: XId = 0
    role: str = ""
    name: str = ""
    moved: bool = False


class FieldReading(Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in the field that was typed into, or in the list that was chosen in.

    `as_wanted`: what was typed or chosen. `reformatted`: the same letters and digits, written in the field's own way.
    `completed`: the program added to it. `different`; `unchanged`: as before. `unreadable`: see `reason`. `text`: what
    the field reads, if not what was wanted. `method`: how it was read.
    """

    outcome: Literal["as_wanted", "reformatted", "completed", "different", "unchanged", "unreadable"]
    text: str = ""
    reason: str = ""
    method: Literal["accessibility", "ocr", ""] = ""


class ActionEffects(Struct, frozen=True, forbid_unknown_fields=True):
    """The side effects of an action. `unread`: why widgets were not read, so that dialogs inside windows and the
    focused widget are not known ("": they are). `dialogs`: those open now, new ones first.
    """

    windows: tuple[WindowChange, ...] = ()
    dialogs: tuple[OpenDialog, ...] = ()
    focus: FocusNow | None = None
    unread: str = ""


def effect_lines(
    effects: ActionEffects, *, only_moved_focus: bool = False, is_scene_told: bool = False
) -> tuple[str, ...]:
    """Return the effects in lines; words from the screen are JSON strings in them. `only_moved_focus`: leave out a
    focus that did not move. `is_scene_told`: leave out dialogs, as the scene beside has their words and buttons.
    """
    lines = [_window_line(one) for one in effects.windows]
    lines += [_dialog_line(one) for one in effects.dialogs if not is_scene_told or one.unread]
    focus = effects.focus
    if focus is not None and (focus.moved or not only_moved_focus):
        lines.append(_focus_line(focus))
    if effects.unread:
        lines.append(f"widgets were not read: {effects.unread}")
    return tuple(lines)


def reading_line(field: FieldReading) -> str:
    """Return what a field reads in one line; "" if that is what was wanted."""
    if field.outcome == "as_wanted" and not field.text:
        return ""
    if field.outcome == "unreadable":
        return f"cannot be read back: {field.reason}"
    return f"reads {quote(field.text)}"


def _window_line(one: WindowChange) -> str:
    kind = {"normal": "window", "dialog": "dialog", "popup": "popup"}[one.kind]
    was = f" (it was {quote(one.was)})" if one.was else ""
    return f"{kind} {one.change}: {quote(one.title) if one.title else 'without a title'}{was}"


def _dialog_line(one: OpenDialog) -> str:
    words = [f"dialog {'open now' if one.is_new else 'still open'}: {quote(one.title)}"]
    if one.texts:
        words.append(f"it says {', '.join(map(quote, one.texts))}")
    if one.buttons:
        words.append(f"buttons {', '.join(map(quote, one.buttons))}")
    if one.unread:
        words.append(f"its words were not read: {one.unread}")
    return "; ".join(words)


def _focus_line(focus: FocusNow) -> str:
    verb = "focus moved to" if focus.moved else "focus in"
    where = f"window {quote(focus.window)}" if focus.window_id else "no window"
    widget = f", {focus.role} {quote(focus.name)}" if focus.role else ""
    return f"{verb} {where}{widget}"
