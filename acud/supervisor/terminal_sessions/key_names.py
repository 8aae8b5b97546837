"""Key chords as people and agents write them, as tmux(1) names them. Pure."""

from __future__ import annotations

from acud.base.errors import InvalidRequest

_MODIFIERS = {"ctrl": "C", "control": "C", "c": "C", "alt": "M", "meta": "M", "m": "M", "shift": "S", "s": "S"}
_NAMED = {
    "enter": "Enter",
    "return": "Enter",
    "tab": "Tab",
    "escape": "Escape",
    "esc": "Escape",
    "space": "Space",
    "backspace": "BSpace",
    "delete": "DC",
    "del": "DC",
    "insert": "IC",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "home": "Home",
    "end": "End",
    "pageup": "PPage",
    "page_up": "PPage",
    "prior": "PPage",
    "pagedown": "NPage",
    "page_down": "NPage",
    "next": "NPage",
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
}
HINT = 'such as "ctrl+c", "Enter", "Up", "alt+x", "F1" or one character; words go into text'


def tmux_key(chord: str) -> str:
    """Return tmux's name of a key chord such as `ctrl+c`, `C-c`, `^C`, `Return` or `q`. Raises: InvalidRequest."""
    if len(chord) == 2 and chord[0] == "^" and chord[1].isascii():
        chord = f"ctrl+{chord[1].lower()}"
    parts = _split_chord(chord)
    modifiers = [_MODIFIERS.get(part.lower(), "") for part in parts[:-1]]
    key = _NAMED.get(parts[-1].lower(), parts[-1])
    if "" in modifiers or not (key in _NAMED.values() or (len(key) == 1 and key.isprintable())):
        raise InvalidRequest(f"{chord[:40]!r} is no key of a terminal", hint=HINT)
    if key == "Tab" and modifiers == ["S"]:
        return "BTab"
    return "-".join((*dict.fromkeys(modifiers), key))


def _split_chord(chord: str) -> list[str]:
    """Split at each sign between keys; a sign alone at the end is a key."""
    text = chord.strip() or chord
    for sign in "+-":
        if sign in text[1:-1]:
            head, last = text[:-1], text[-1]
            parts = (head + ("\0" if last == sign else last)).split(sign)
            return [part.replace("\0", sign) for part in parts]
    return [text]
