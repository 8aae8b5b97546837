"""The error for input that stopped because another window would have got it: pure rules."""

from __future__ import annotations

from collections.abc import Sequence

from acud.base.errors import Refused
from acud.base.untrusted_text import quote
from acud.features.actions.field_text import CARET
from acud.protocol.capture import Misdirection
from acud.types import WindowInfo, screen_cover
from acud.types.action_effects import OpenDialog
from acud.types.actions import Click, Drag, Hold, InputAction, Key, Scroll, TypeText, parse_chords

_ANSWER = 'answer the dialog first (gui_do "click …"), then do the rest'
_BESIDE = (
    "answer the dialog (gui_do), or give the window the focus (window_focus, acud do window focus); then do the rest"
)
_FOCUS = "give the window the focus first (window_focus, acud do window focus), then do the rest"
_FEWEST = 3
"""Letters that must match: fewer are in many windows by chance."""
_LOCKED = "the screen is locked or hidden: it has to be unlocked first"
_RAISE = "raise the window first (window_raise, acud do window raise), or act on the one that is there"


def describe_misdirection(
    action: InputAction | None, how: Misdirection, windows: Sequence[WindowInfo], dialog: OpenDialog | None
) -> Refused:
    """Return the error for `action` (None: before any), stopped as `how` describes. `dialog`: the one in its way."""
    is_keyed = isinstance(action, Key | TypeText | Hold)
    holder, target = _describe_window(how.by, windows), _quote_title(how.target, windows)
    if how.is_kept:
        why = f"{holder} has the focus and keeps {target} from it"
    elif is_keyed:
        why = f"{holder} has the focus, not {target}"
    else:
        why = f"{holder} is there, not {target}"
    if dialog is not None:
        names = ", ".join(map(_quote_button, dialog.buttons))
        why += f"; buttons: {names}" if names else "; its buttons are not known"
    by_kind = _FOCUS if is_keyed else _RAISE
    if screen_cover(windows) is not None:
        by_kind = _LOCKED
    hint = _ANSWER if how.is_kept else _BESIDE if dialog is not None and is_keyed else by_kind
    total = _count_units(action)
    return Refused(
        f"{why}; {_describe_progress(action, how, total, target)}",
        hint=hint,
        sent=how.done,
        unsure=how.unsure,
        of=total,
        by=how.by,
    )


def count_shown(typed: str, lines: Sequence[str]) -> int:
    """Return how many letters of `typed`, from its first on, are in `lines` of OCR up to the end of a line; 0 for less
    than `_FEWEST`. White space, case and a caret at the end do not count.
    """
    places = [n for n, letter in enumerate(typed, 1) if not letter.isspace()]
    wanted = _squash(typed)
    read, ends = "", list[int]()
    for line in map(_squash, lines):
        read += line
        ends += [len(read), len(read) - 1] if line.endswith(CARET) else [len(read)]
    starts = [n for n in range(len(read)) if read.startswith(wanted[:_FEWEST], n)]
    found = (end - start for start in starts for end in ends if wanted.startswith(read[start:end]))
    shown = max(found, default=0)
    return places[shown - 1] if shown >= _FEWEST else 0


def _squash(text: str) -> str:
    return "".join(text.split()).casefold()


def _describe_progress(action: InputAction | None, how: Misdirection, total: int, target: str) -> str:
    match action:
        case TypeText():
            unit, verb = "letters", "typed"
        case Key():
            unit, verb = "chords", "pressed"
        case Hold():
            unit, verb = "", "held"
        case Drag():
            unit, verb = "", "dragged"
        case Scroll():
            unit, verb = "", "scrolled"
        case Click():
            unit, verb = "", "clicked"
        case _:
            unit, verb = "", "done"
    if not how.done:
        return f"nothing was {verb}"
    if isinstance(action, Drag):
        return "the drag was taken back to where it began"
    rest = f"{total - how.done} were not {verb}"
    if how.unsure and how.unsure == how.done:
        return f"{how.done} of {total} {unit} were sent to {target} (how many of them arrived is not known), {rest}"
    unsure = f" (the last {how.unsure} may be lost, or there)" if how.unsure else ""
    return f"{how.done} of {total} {unit} went to {target}{unsure}, {rest}"


def _count_units(action: InputAction | None) -> int:
    if isinstance(action, TypeText):
        return len(action.text.replace("\r\n", "\n"))
    return len(parse_chords(action.chord)) if isinstance(action, Key) else 1


def _describe_window(window_id: int, windows: Sequence[WindowInfo]) -> str:
    if not window_id:
        return "no window"
    window = next((one for one in windows if one.window_id == window_id), None)
    kind = "window" if window is None or window.kind == "normal" else window.kind
    return f"{kind} {_quote_title(window_id, windows)}"


def _quote_title(window_id: int, windows: Sequence[WindowInfo]) -> str:
    title = next((one.title for one in windows if one.window_id == window_id), "")
    return quote(title) if title else f"{window_id:#x}" if window_id else "the bare screen"


def _quote_button(name: str) -> str:
    """Return the name of a button, quoted unless it is plain words."""
    return name if name.replace(" ", "").isalnum() else quote(name)
