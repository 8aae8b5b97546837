"""Which window the next step of a list is for: pure rules.

Where the request names a window, every step is for that one. Else text moves no focus, so what follows it is for the
same window; keys and clicks may, within their program (`ctrl+s` opens its dialog), so what follows them is for its
windows; and what can lead to any program leaves open which window comes next.
"""

from __future__ import annotations

from msgspec import Struct

from acud.types.actions import Action, Click, ClipboardSet, Drag, Hold, Key, Launch, TypeText, WindowDo, parse_chords

_LEADS_ANYWHERE = frozenset({"Alt_L", "Super_L", "Hyper_L"})
"""Modifiers of the chords that window managers take for themselves."""
_ENTERS = frozenset({"Return", "KP_Enter"})
_MOVES_FOCUS = ("\n", "\r", "\t")


class InputAim(Struct, frozen=True):
    """`window`: the X id (0: any); `with_program`: others of its program do, too. `is_named`: by the request."""

    window: int = 0
    with_program: bool = False
    is_named: bool = False

    def next(self, action: Action) -> InputAim:
        """Return what is asked of the window of `action`: a place says by itself which window it means."""
        if not self.is_named and isinstance(action, Click | Drag):
            return InputAim()
        return self

    def follow(self, action: Action, reached: int) -> InputAim:
        """Return the aim of the step after `action`, whose input went to the window `reached` (0: to none)."""
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
    """Return what `action` types, or puts where it is pasted from; "" where text is typed elsewhere after it; None: it
    has to do with no text.
    """
    match action:
        case TypeText(text=text) | ClipboardSet(text=text):
            return text.replace("\r", "\n")
        case Key(chord=chord) if _ENTERS & {key for one in parse_chords(chord) for key in one}:
            return "\n"
        case Click() | Drag() | Launch() | WindowDo():
            return ""
    return None
