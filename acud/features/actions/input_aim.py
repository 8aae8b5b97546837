"""Which window the next step of a list is for: pure rules.

If the request names a window, every step is for that one. Else text keeps the focus, so the next step is for the same
window; keys and clicks may move it within their program (`ctrl+s` opens its dialog), so the next step is for any of its
windows; after a step that can lead to any program, it is for any window.
"""

from __future__ import annotations

from msgspec import Struct

from acud.types.actions import Action, Click, ClipboardSet, Drag, Hold, Key, Launch, TypeText, WindowDo, parse_chords

_LEADS_ANYWHERE = frozenset({"Alt_L", "Super_L", "Hyper_L"})
"""Modifiers of chords that window managers intercept."""
_ENTERS = frozenset({"Return", "KP_Enter"})
_MOVES_FOCUS = ("\n", "\r", "\t")


class InputAim(Struct, frozen=True):
    """`window`: the X id (0: any); `with_program`: other windows of its program too. `is_named`: by the request."""

    window: int = 0
    with_program: bool = False
    is_named: bool = False

    def next(self, action: Action) -> InputAim:
        """Return the aim of `action`: a click or drag finds its window by its place."""
        if not self.is_named and isinstance(action, Click | Drag):
            return InputAim()
        return self

    def follow(self, action: Action, reached: int) -> InputAim:
        """Return the aim of the step after `action`, of which the input went to the window `reached` (0: none)."""
        if self.is_named:
            return self
        match action:
            case Launch() | WindowDo():
                return InputAim()
            case Key(chord=chord):
                keys = {key for one in parse_chords(chord) for key in one}
                return InputAim() if keys & _LEADS_ANYWHERE else InputAim(reached, with_program=True)
            case TypeText(text=text):
                return InputAim(reached, with_program=self.with_program or text.endswith(_MOVES_FOCUS))
            case Click() | Drag() | Hold():
                return InputAim(reached, with_program=True)
        return self


def typed_by(action: Action) -> str | None:
    """Return the text that `action` types or puts into the clipboard; "" if later text goes elsewhere; None for an
    action that has nothing to do with text.
    """
    match action:
        case TypeText(text=text) | ClipboardSet(text=text):
            return text.replace("\r", "\n")
        case Key(chord=chord) if _ENTERS & {key for one in parse_chords(chord) for key in one}:
            return "\n"
        case Click() | Drag() | Launch() | WindowDo():
            return ""
    return None
