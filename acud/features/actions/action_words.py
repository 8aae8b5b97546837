"""Actions in words, for logs and diaries. Text that is typed, copied or passed to a program may be secret: its
characters are counted, never quoted.
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
    """Return a description of `actions` in one line of at most 300 characters."""
    text = "; ".join(map(action_text, actions))
    return text if len(text) <= _MAX_CHARACTERS else text[: _MAX_CHARACTERS - 1] + "…"


def action_text(action: Action) -> str:
    match action:
        case Move(to=to):
            return f"move to {_format_point(to)}"
        case Click():
            return _describe_click(action)
        case Drag(to=to, start=start, button=button, keys=keys):
            origin = f" from {_format_point(start)}" if start else ""
            return f"{_format_keys(keys)}drag{_format_button(button)}{origin} to {_format_point(to)}"
        case Scroll(direction=direction, amount=amount, at=at, keys=keys):
            return f"{_format_keys(keys)}scroll {direction} {amount}{_format_place(at)}"
        case Key(chord=chord):
            return f"key {chord}"
        case TypeText(text=text):
            return f"type {_count_characters(text)}"
        case Hold(what=what):
            return f"hold {what}"
        case Release(what=what):
            return f"release {what or 'everything'}"
        case CursorPosition():
            return "ask for the cursor"
        case _:
            return _describe_other(action)


def _describe_other(action: Action) -> str:
    match action:
        case WindowDo(window=window, do=verb, to=to, size=size):
            place = f" to {_format_point(to)}" if to else f" to {size[0]}x{size[1]}" if size else ""
            return f"{verb} window {window!r}{place}"
        case WindowList():
            return "list windows"
        case ClipboardGet(selection=selection):
            return f"read the {selection}"
        case ClipboardSet(text=text, selection=selection):
            return f"set the {selection} to {_count_characters(text)}"
        case Launch(command=command):
            more = len(command) - 1
            return f"launch {command[0]}" + (f" with {more} argument{'s' * (more != 1)}" if more else "")
        case WaitIdle(stable_s=stable_s):
            return f"wait until idle for {stable_s:g} s"
    return type(action).__name__


def _describe_click(click: Click) -> str:
    times = ("", "double-", "triple-")[click.count - 1]
    return f"{_format_keys(click.keys)}{times}click{_format_button(click.button)}{_format_place(click.at)}"


def _format_button(button: Button) -> str:
    return "" if button is Button.LEFT else f" {button}"


def _format_keys(keys: str) -> str:
    return f"{keys}+" if keys else ""


def _format_place(at: Place | None) -> str:
    return f" at {_format_point(at)}" if at else ""


def _format_point(place: Place) -> str:
    return place if isinstance(place, str) else f"{place.x},{place.y}"


def _count_characters(text: str) -> str:
    return f"{len(text)} character{'s' * (len(text) != 1)}"
