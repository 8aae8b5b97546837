"""Actions in words, for logs and diaries. What is typed, copied or handed to a program may be a secret: it is counted,
never quoted.
"""

from __future__ import annotations

from collections.abc import Iterable

from acud.types.actions import (
    Action,
    Button,
    Click,
    ClipboardGet,
    ClipboardSet,
    CursorPosition,
    Drag,
    Hold,
    Key,
    Launch,
    Move,
    Place,
    Release,
    Scroll,
    TypeText,
    WaitIdle,
    WindowDo,
    WindowList,
)

_MAX_CHARACTERS = 300


def actions_text(actions: Iterable[Action]) -> str:
    """Return what `actions` do as one line of at most 300 characters."""
    text = "; ".join(map(action_text, actions))
    return text if len(text) <= _MAX_CHARACTERS else text[: _MAX_CHARACTERS - 1] + "…"


def action_text(action: Action) -> str:
    match action:
        case Move(to=to):
            return f"move to {_at(to)}"
        case Click():
            return _click(action)
        case Drag(to=to, start=start, button=button, keys=keys):
            origin = f" from {_at(start)}" if start else ""
            return f"{_with(keys)}drag{_button(button)}{origin} to {_at(to)}"
        case Scroll(direction=direction, amount=amount, at=at, keys=keys):
            return f"{_with(keys)}scroll {direction} {amount}{_where(at)}"
        case Key(chord=chord):
            return f"key {chord}"
        case TypeText(text=text):
            return f"type {_counted(text)}"
        case Hold(what=what):
            return f"hold {what}"
        case Release(what=what):
            return f"release {what or 'everything'}"
        case CursorPosition():
            return "ask for the cursor"
        case _:
            return _beside_input(action)


def _beside_input(action: Action) -> str:
    match action:
        case WindowDo(window=window, do=verb, to=to, size=size):
            place = f" to {_at(to)}" if to else f" to {size[0]}x{size[1]}" if size else ""
            return f"{verb} window {window!r}{place}"
        case WindowList():
            return "list windows"
        case ClipboardGet(selection=selection):
            return f"read the {selection}"
        case ClipboardSet(text=text, selection=selection):
            return f"set the {selection} to {_counted(text)}"
        case Launch(command=command):
            more = len(command) - 1
            return f"launch {command[0]}" + (f" with {more} argument{'s' * (more != 1)}" if more else "")
        case WaitIdle(stable_s=stable_s):
            return f"wait until idle for {stable_s:g} s"
    return type(action).__name__


def _click(click: Click) -> str:
    times = ("", "double-", "triple-")[click.count - 1]
    return f"{_with(click.keys)}{times}click{_button(click.button)}{_where(click.at)}"


def _button(button: Button) -> str:
    return "" if button is Button.LEFT else f" {button}"


def _with(keys: str) -> str:
    return f"{keys}+" if keys else ""


def _where(at: Place | None) -> str:
    return f" at {_at(at)}" if at else ""


def _at(place: Place) -> str:
    return place if isinstance(place, str) else f"{place.x},{place.y}"


def _counted(text: str) -> str:
    return f"{len(text)} character{'s' * (len(text) != 1)}"
