"""Keysyms and the keymap: numbers by name (`Return`, `F5`, `é`, `U20AC`) or character, and the keys that type them.

The core mapping of a server with XKB (X Keyboard Extension protocol, 12.4): columns 0 and 1 of a row are group 1,
columns 2 and 3 group 2, a key with one group has it in both. Higher groups and levels are left out: their keysyms are
typed through a spare keycode, least recently used first. No connection is needed here; times are passed in.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import math
import pkgutil
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from Xlib import keysymdef

from acud.base.errors import InvalidRequest

UNICODE = 0x01000000
_LATIN_1 = ((0x20, 0x7E), (0xA0, 0xFF))
_CONTROL = {"\n": 0xFF0D, "\t": 0xFF09, "\b": 0xFF08, "\x1b": 0xFF1B}  # Return, Tab, BackSpace, Escape
_CYRILLIC = range(0x6A1, 0x700)
_CODE_POINT = re.compile(r"^[Uu]\+?([0-9A-Fa-f]{4,6})$")
_PREFIX = "XK_"
_XF86 = "XF86_"
_NEAR = 4
GROUPS = 2
_FUNCTION_KEYS = range(0xFE00, 0x10000)
_MAIN_BLOCK_END = 100  # keycodes below are an ordinary keyboard's; above are media keys, some of which type parentheses
LINGER_S = 1.0
"""The time in which a program that answers no ping reads a key; a busy machine takes its time: 0.4 s was too little for
an xterm beside a run of the tests."""


def keysym_of_name(name: str) -> int:
    """Return the keysym with the name `name`; a single character means itself. Raises: InvalidRequest."""
    if len(name) == 1:
        return keysym_of_character(name)
    number = _keysym_numbers().get(name) or _names_by_lower().get(name.lower())
    if number is not None:
        return number
    point = _CODE_POINT.match(name)
    if point is not None and int(point[1], 16) <= 0x10FFFF:
        return keysym_of_character(chr(int(point[1], 16)))
    begun = [one for one in _keysym_numbers() if one.lower().startswith(f"{name.lower()}_")]
    near = begun[:_NEAR] or difflib.get_close_matches(name, _keysym_numbers(), _NEAR, 0.6)
    hint = f"near: {', '.join(near)}" if near else "use X keysym names, such as Return, Page_Down, F5, plus"
    raise InvalidRequest(f"no key is called {name!r}", hint=hint)


def keysym_of_character(character: str) -> int:
    """Return the keysym that types `character`. Raises: InvalidRequest for a character without a key."""
    known = _CONTROL.get(character)
    if known is not None:
        return known
    point = ord(character)
    if any(low <= point <= high for low, high in _LATIN_1):
        return point
    if point < 0x100 or 0xD800 <= point <= 0xDFFF:
        raise InvalidRequest(f"the character U+{point:04X} can't be typed", hint="leave control characters out")
    return UNICODE + point


def to_unicode(keysym: int) -> int:
    """Return the Unicode keysym in place of an old Cyrillic one, which Cyrillic layouts hold (KOI8-U order)."""
    if keysym not in _CYRILLIC:
        return keysym
    character = bytes([keysym & 0xFF]).decode("koi8-u")
    return UNICODE + ord(character) if character.isalpha() else keysym


class Stroke(Struct, frozen=True):
    """A key to press, with Shift or without. `group`: the layout group in which it has the requested keysym."""

    keycode: int
    shift: bool
    group: int | None = None


class Keymap:
    """`rows[n]` are the keysyms of keycode `first + n`; `modifiers` the keycodes of each of the eight modifiers."""

    def __init__(self, first: int, rows: Sequence[Sequence[int]], modifiers: Sequence[Sequence[int]]) -> None:
        self._groups: tuple[dict[int, Stroke], ...] = tuple({} for _ in range(GROUPS))
        bound = {keycode for row in modifiers for keycode in row}
        self.width = max(map(len, rows), default=0)  # a key that we assigned comes as an empty row
        self.shift = next((code for code in modifiers[0] if code), 0)
        self.spare = tuple(first + n for n, row in enumerate(rows) if not any(row) and first + n not in bound)
        for group, known in enumerate(self._groups):
            _fill_strokes(known, group, first, rows)

    def find(self, keysym: int, group: int) -> Stroke | None:
        """Return the key that types `keysym`, one of the active `group` first; None for none."""
        wanted = to_unicode(keysym)
        for candidate in dict.fromkeys((group, *range(GROUPS))):
            stroke: Stroke | None = self._groups[candidate].get(wanted) if candidate < GROUPS else None
            if stroke is not None:
                return stroke
        return None


@functools.cache
def _keysym_numbers() -> dict[str, int]:
    found: dict[str, int] = {}
    for module in pkgutil.iter_modules(keysymdef.__path__):
        table = vars(importlib.import_module(f"{keysymdef.__name__}.{module.name}"))
        found |= {name.removeprefix(_PREFIX): number for name, number in table.items() if name.startswith(_PREFIX)}
    # keysymdef writes XF86_AudioMute for the usual XF86AudioMute.
    return found | {"XF86" + n.removeprefix(_XF86): k for n, k in found.items() if n.startswith(_XF86)}


@functools.cache
def _names_by_lower() -> dict[str, int]:
    """Return the keysyms by lower-case name, where that is the name of one key only."""
    numbers: dict[str, set[int]] = {}
    for name, number in _keysym_numbers().items():
        numbers.setdefault(name.lower(), set()).add(number)
    return {name: min(of) for name, of in numbers.items() if len(of) == 1}


def _fill_strokes(known: dict[int, Stroke], group: int, first: int, rows: Sequence[Sequence[int]]) -> None:
    cells = ((first + n, level, _keysym_at(row, group, level)) for n, row in enumerate(rows) for level in (0, 1))
    for keycode, level, keysym in sorted(cells, key=lambda cell: (cell[0] >= _MAIN_BLOCK_END, cell[1], cell[0])):
        if keysym and not (level and _is_function(keysym)):
            known.setdefault(to_unicode(keysym), Stroke(keycode, bool(level), group))


def _is_function(keysym: int) -> bool:
    """Return whether it types nothing; the second level of such a key is often not Shift's (Break is Ctrl+Pause)."""
    return keysym < UNICODE and keysym in _FUNCTION_KEYS


def _keysym_at(row: Sequence[int], group: int, level: int) -> int:
    column = 2 * group + level
    return row[column] if column < len(row) else 0


class KeycodePlan(Struct, frozen=True):
    """Put `changes[keycode]` (two keysyms) on the keycodes, not before `ready_s`."""

    changes: dict[int, tuple[int, int]]
    ready_s: float


class SpareKeycodes:
    """The spare keycodes of one display."""

    def __init__(self, keycodes: Iterable[int] = ()) -> None:
        self._pairs: dict[int, tuple[int, int]] = dict.fromkeys(keycodes, (0, 0))
        self._used_s: dict[int, float] = {}
        self._settled_s = -math.inf

    @property
    def assigned(self) -> dict[int, tuple[int, int]]:
        return {keycode: pair for keycode, pair in self._pairs.items() if any(pair)}

    @property
    def keycodes(self) -> tuple[int, ...]:
        return tuple(self._pairs)

    def find(self, keysym: int) -> Stroke | None:
        """Return the stroke that types `keysym`; None when no keycode has it."""
        for keycode, pair in self._pairs.items():
            if keysym in pair:
                return Stroke(keycode, shift=pair[0] != keysym)
        return None

    def use(self, keycode: int, now_s: float) -> None:
        if keycode in self._pairs:
            self._used_s[keycode] = now_s

    def note_settled(self, until_s: float) -> None:
        """Note that every key pressed until then was read."""
        self._settled_s = max(self._settled_s, until_s)

    @property
    def last_used_s(self) -> float:
        """When a spare key was pressed last; -inf for never."""
        return max(self._used_s.values(), default=-math.inf)

    def plan(self, wanted: Iterable[int]) -> KeycodePlan:
        """Return how to make room for as many of `wanted` as fit, in that order; the first is on no key yet."""
        kept: set[int] = set()
        new: list[int] = []
        for keysym in dict.fromkeys(wanted):
            slot = self.find(keysym)
            held = kept | {slot.keycode} if slot else kept
            more = new if slot else [*new, keysym]
            if len(held) + -(-len(more) // 2) > len(self._pairs):
                break
            kept, new = held, more
        oldest = sorted((k for k in self._pairs if k not in kept), key=lambda k: self._used_s.get(k, -math.inf))
        pairs = [(new[n], new[min(n + 1, len(new) - 1)]) for n in range(0, len(new), 2)]
        changes = dict(zip(oldest, pairs, strict=False))
        return KeycodePlan(changes, max((self._free_s(keycode) for keycode in changes), default=-math.inf))

    def _free_s(self, keycode: int) -> float:
        used_s = self._used_s.get(keycode, -math.inf)
        return -math.inf if used_s <= self._settled_s else used_s + LINGER_S

    def note_changes(self, changes: dict[int, tuple[int, int]]) -> None:
        """Note that `changes` were made; a pair (0, 0) is an empty key."""
        self._pairs |= changes

    def forget(self, keycodes: Iterable[int]) -> None:
        """Note that `keycodes` are no longer spare: another program changed the layout."""
        for keycode in list(keycodes):
            self._pairs.pop(keycode, None)
