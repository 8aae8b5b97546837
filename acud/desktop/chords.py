"""Chords as people and models write them (`ctrl+shift+t`, `Return`, `plus`), read into X keysym names; pure."""

from __future__ import annotations

from msgspec import Struct

from acud.desktop.actions import Button
from acud.errors import InvalidRequest

MOUSE = "mouse:"
_ALIASES = {
    "ctrl": "Control_L", "control": "Control_L", "alt": "Alt_L", "option": "Alt_L", "shift": "Shift_L",
    "super": "Super_L", "win": "Super_L", "windows": "Super_L", "cmd": "Super_L", "command": "Super_L",
    "meta": "Super_L", "altgr": "ISO_Level3_Shift", "hyper": "Hyper_L",
    "enter": "Return", "return": "Return", "esc": "Escape", "escape": "Escape", "del": "Delete", "ins": "Insert",
    "backspace": "BackSpace", "bksp": "BackSpace", "tab": "Tab", "space": "space", "spacebar": "space",
    "pgup": "Prior", "pageup": "Prior", "page_up": "Prior", "pgdn": "Next", "pgdown": "Next", "pagedown": "Next",
    "page_down": "Next", "home": "Home", "end": "End", "up": "Up", "down": "Down", "left": "Left", "right": "Right",
    "arrowup": "Up", "arrowdown": "Down", "arrowleft": "Left", "arrowright": "Right",
    "caps": "Caps_Lock", "capslock": "Caps_Lock", "numlock": "Num_Lock", "scrolllock": "Scroll_Lock",
    "printscreen": "Print", "prtsc": "Print", "menu": "Menu", "pause": "Pause", "break": "Break",
}  # fmt: skip


class Held(Struct, frozen=True):
    """What is to be held: keys by keysym name (or a single character), or a button."""

    keys: tuple[str, ...] = ()
    button: Button | None = None


def chord(text: str) -> tuple[str, ...]:
    """Return the keys of one chord in the order they are pressed: keysym names or single characters.

    `ctrl++` and `ctrl+plus` are the same. Raises: InvalidRequest.
    """
    if text == "+":
        return ("plus",)
    body, last = (text[:-2], ("plus",)) if text.endswith("++") else (text, ())
    parts = body.split("+")
    if not all(parts):
        raise InvalidRequest(f"{text!r} is not a chord", hint="join keys by +, such as ctrl+shift+t; + itself is plus")
    return (*(_ALIASES.get(part.lower(), part) for part in parts), *last)


def chords(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the chords of `text`, which white space separates. Raises: InvalidRequest."""
    found = tuple(chord(part) for part in text.split())
    if not found:
        raise InvalidRequest("no key is named", hint="give one such as Return or ctrl+a; the space bar is space")
    return found


def held(text: str) -> Held:
    """Return what `text` (a chord, or `mouse:left`) means to hold. Raises: InvalidRequest."""
    if not text.startswith(MOUSE):
        return Held(keys=chord(text.strip()))
    name = text.removeprefix(MOUSE).strip().lower()
    if name not in set(Button):
        raise InvalidRequest(f"{text!r} is no button", hint="mouse:left, mouse:middle or mouse:right")
    return Held(button=Button(name))
