"""What an agent can do to a display, as frozen values (on the wire, in the action log, in the rules), and chords.

Chords are read as people and models write them (`ctrl+shift+t`, `Return`, `plus`) into X keysym names.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.base.errors import InvalidRequest

MAX_TYPED = 10_000
MAX_CLIPBOARD = 500_000
"""Characters; a message is at most 1 MiB."""

Coordinate = Annotated[int, Meta(ge=-32768, le=32767)]
Chord = Annotated[str, Meta(min_length=1, max_length=200)]
"""X keysym names joined by `+`, such as `ctrl+shift+t`; `ctrl`, `alt`, `shift`, `super` mean the left keys."""
WindowName = Annotated[str, Meta(min_length=1, max_length=1000)]
"""A part of a title, or an X id in decimal or `0x` form; `active` is the focused window."""


class Point(Struct, frozen=True, array_like=True):
    """A place in pixels, origin at the top left: `[x, y]`."""

    x: Coordinate
    y: Coordinate


ElementId = Annotated[
    str,
    Meta(
        pattern=r"^[tav][1-9][0-9]{0,8}-[1-9][0-9]{0,8}$(?!\n)",
        description="the id of an element of a scene, such as t1-2",
    ),
]
"""An element of a scene (`t3-12`, `a3-4`, `v3-1`); as a place, the middle of its visible part."""
Place = Point | ElementId


class Button(StrEnum):
    """A mouse button."""

    LEFT = "left"
    MIDDLE = "middle"
    RIGHT = "right"


class Direction(StrEnum):
    """Where a scroll moves the view of the content."""

    UP = "up"
    DOWN = "down"
    LEFT = "left"
    RIGHT = "right"


class WindowVerb(StrEnum):
    """What can be done to a window (EWMH, and ICCCM 4.1.4 for minimise)."""

    FOCUS = "focus"
    RAISE = "raise"
    MOVE = "move"
    RESIZE = "resize"
    CLOSE = "close"
    MINIMISE = "minimise"
    MAXIMISE = "maximise"
    RESTORE = "restore"


class Move(Struct, frozen=True, tag="move", forbid_unknown_fields=True):
    """Move the pointer."""

    to: Place


class Click(Struct, frozen=True, tag="click", forbid_unknown_fields=True):
    """Click `count` times where the pointer is, or at `at`; `keys` are held meanwhile (`ctrl`, `ctrl+shift`)."""

    at: Place | None = None
    button: Button = Button.LEFT
    count: Annotated[int, Meta(ge=1, le=3)] = 1
    keys: str = ""


class Drag(Struct, frozen=True, tag="drag", forbid_unknown_fields=True):
    """Press at `start` (None: where the pointer is), move in steps to `to`, release there."""

    to: Place
    start: Place | None = None
    button: Button = Button.LEFT
    keys: str = ""


class Scroll(Struct, frozen=True, tag="scroll", forbid_unknown_fields=True):
    """Turn the wheel `amount` clicks, at `at` or where the pointer is."""

    direction: Direction
    amount: Annotated[int, Meta(ge=1, le=100)] = 3
    at: Place | None = None
    keys: str = ""


class Key(Struct, frozen=True, tag="key", forbid_unknown_fields=True):
    """Press and release chords one after the other, white space between them: `ctrl+a Delete`."""

    chord: Chord


class TypeText(Struct, frozen=True, tag="type", forbid_unknown_fields=True):
    """Type any Unicode text, whatever the keyboard layout; a line feed is Return, a tab is Tab."""

    text: Annotated[str, Meta(min_length=1, max_length=MAX_TYPED)]


class Hold(Struct, frozen=True, tag="hold", forbid_unknown_fields=True):
    """Press a chord (`shift`), or a button (`mouse:left`), and keep it pressed until it is released.

    `for_s` above 0 releases it by itself after that time.
    """

    what: Chord
    for_s: Annotated[float, Meta(ge=0, le=60)] = 0.0


class Release(Struct, frozen=True, tag="release", forbid_unknown_fields=True):
    """Release what was held; "" releases everything that acud holds on the display."""

    what: Annotated[str, Meta(max_length=200)] = ""


class CursorPosition(Struct, frozen=True, tag="cursor_position", forbid_unknown_fields=True):
    """Return the pointer's position, which is in the reply of every action."""


class WindowDo(Struct, frozen=True, tag="window", forbid_unknown_fields=True):
    """Do something to a window. `to` is for move (the client area's origin), `size` for resize (width, height)."""

    window: WindowName
    do: WindowVerb
    to: Point | None = None
    size: tuple[Annotated[int, Meta(ge=1, le=32767)], Annotated[int, Meta(ge=1, le=32767)]] | None = None


class WindowList(Struct, frozen=True, tag="window_list", forbid_unknown_fields=True):
    """List windows with `match` in their title, topmost first."""

    match: str = ""


class ClipboardGet(Struct, frozen=True, tag="clipboard_get", forbid_unknown_fields=True):
    """Read the text of a selection, or its `picture` in PNG."""

    selection: Literal["clipboard", "primary"] = "clipboard"
    picture: bool = False


class ClipboardSet(Struct, frozen=True, tag="clipboard_set", forbid_unknown_fields=True):
    """Own a selection with this text, until another program copies."""

    text: Annotated[str, Meta(max_length=MAX_CLIPBOARD)]
    selection: Literal["clipboard", "primary"] = "clipboard"


class Launch(Struct, frozen=True, tag="launch", forbid_unknown_fields=True):
    """Start a program on the display: a list of words, never a shell line. `cwd` "" is the daemon's home."""

    command: Annotated[tuple[Annotated[str, Meta(max_length=4000)], ...], Meta(min_length=1, max_length=256)]
    cwd: str = ""


class WaitIdle(Struct, frozen=True, tag="wait_idle", forbid_unknown_fields=True):
    """Wait until nothing changed for `stable_s`, at most `timeout_s`; a timeout is a valid answer."""

    stable_s: Annotated[float, Meta(gt=0, le=60)] = 0.5
    timeout_s: Annotated[float, Meta(gt=0, le=60)] = 10.0


InputAction = (
    Move
    | Click
    | Drag
    | Scroll
    | Key
    | TypeText
    | Hold
    | Release
    | CursorPosition
    | WindowDo
    | ClipboardGet
    | ClipboardSet
)
"""What a capture process does."""

Action = InputAction | WindowList | Launch | WaitIdle
"""What a client can ask for."""


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


_MODIFIERS = frozenset(
    (
        "Control_L",
        "Control_R",
        "Alt_L",
        "Alt_R",
        "Shift_L",
        "Shift_R",
        "Super_L",
        "Meta_L",
        "Hyper_L",
        "ISO_Level3_Shift",
    )
)
_GTK = re.compile(r"(?P<held>(?:<\w+>)+)(?P<key>[^<>\s]+)")
_DASHED = re.compile(r"(?P<held>(?:\w+-)+)(?P<key>\w+|-)")
_EMACS = {"C": "ctrl", "M": "alt", "S": "shift", "s": "super"}


class Held(Struct, frozen=True):
    """What to hold: keys by keysym name (or a single character), or a button."""

    keys: tuple[str, ...] = ()
    button: Button | None = None


def parse_chord(text: str) -> tuple[str, ...]:
    """Return the keys of one chord in the order of pressing: keysym names or single characters.

    `ctrl++` and `ctrl+plus` are the same, and so are `ctrl+a`, `Ctrl+A`, `ctrl-a`, `<Control>a` and `C-a`. Raises:
    InvalidRequest.
    """
    if text == "+":
        return ("plus",)
    text = _join_by_plus(text)
    body, last = (text[:-2], ("plus",)) if text.endswith("++") else (text, ())
    parts = body.split("+")
    if not all(parts):
        raise InvalidRequest(f"{text!r} is not a chord", hint="join keys by +, such as ctrl+shift+t; + itself is plus")
    keys = tuple(_ALIASES.get(part.lower(), part) for part in parts)
    if any(key in _MODIFIERS for key in keys[:-1]) and len(keys[-1]) == 1:
        keys = (*keys[:-1], keys[-1].lower())  # "Ctrl+A" names the key; a capital is shift+a
    return (*keys, *last)


def _join_by_plus(text: str) -> str:
    """Return a chord of GTK (`<Control>a`), Emacs (`C-a`) or Windows (`ctrl-a`) joined by +."""
    marked = _GTK.fullmatch(text)
    if marked is not None:
        return "+".join([*marked["held"].strip("<>").split("><"), marked["key"]]).replace("Primary", "ctrl")
    dashed = _DASHED.fullmatch(text)
    if dashed is None:
        return text
    held = [_EMACS.get(one, one) for one in dashed["held"].rstrip("-").split("-")]
    is_known = all(_ALIASES.get(one.lower()) in _MODIFIERS for one in held)
    return "+".join([*held, "minus" if dashed["key"] == "-" else dashed["key"]]) if is_known else text


def parse_chords(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the chords of `text`, separated by white space. Raises: InvalidRequest."""
    found = tuple(parse_chord(part) for part in re.sub(r"\s+\+\s+", "+", text).split())
    if not found:
        raise InvalidRequest("no key is named", hint="give one such as Return or ctrl+a; the space bar is space")
    alone = next((at for at, keys in enumerate(found[:-1]) if set(keys) <= _MODIFIERS), None)
    if alone is not None:
        held, key = text.split()[alone : alone + 2]
        raise InvalidRequest(
            f"{text!r} would press {held} and let it go before {key}",
            hint=f"join what is held and its key by +, such as {held}+Return; for one after the other make two calls",
        )
    return found


def parse_hold(text: str) -> Held:
    """Return what `text` (a chord, or `mouse:left`) holds. Raises: InvalidRequest."""
    if not text.startswith(MOUSE):
        return Held(keys=parse_chord(text.strip()))
    name = text.removeprefix(MOUSE).strip().lower()
    if name not in set(Button):
        raise InvalidRequest(f"{text!r} is no button", hint="mouse:left, mouse:middle or mouse:right")
    return Held(button=Button(name))
