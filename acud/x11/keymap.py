"""The keymap as it stands: which key types what in which layout group, and which keycodes are spare; pure.

The core mapping of a server with XKB (X Keyboard Extension protocol, 12.4): columns 0 and 1 of a row are group 1,
columns 2 and 3 group 2, a key with one group has it in both. Higher groups and levels are left out: what only they have
is typed through a spare keycode.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from acud.x11.keysyms import UNICODE, plain

GROUPS = 2
_FUNCTION_KEYS = range(0xFE00, 0x10000)
_MAIN_BLOCK_END = 100
"""Keycodes below are an ordinary keyboard's; above are media keys, some of which type parentheses."""


class Stroke(Struct, frozen=True):
    """A key to press, with Shift or without. `group`: the layout group in which it means what was asked for."""

    keycode: int
    shift: bool
    group: int | None = None


class Keymap:
    """`rows[n]` are the keysyms of keycode `first + n`; `modifiers` the keycodes of each of the eight modifiers."""

    def __init__(self, first: int, rows: Sequence[Sequence[int]], modifiers: Sequence[Sequence[int]]) -> None:
        self._groups: tuple[dict[int, Stroke], ...] = tuple({} for _ in range(GROUPS))
        bound = {keycode for row in modifiers for keycode in row}
        self.width = max(map(len, rows), default=0)  # a key that we gave a meaning comes as an empty row
        self.shift = next((code for code in modifiers[0] if code), 0)
        self.spare = tuple(first + n for n, row in enumerate(rows) if not any(row) and first + n not in bound)
        for group, known in enumerate(self._groups):
            _fill(known, group, first, rows)

    def find(self, keysym: int, group: int) -> Stroke | None:
        """Return the key that types `keysym`, one of the active `group` first; None when none does."""
        wanted = plain(keysym)
        for candidate in dict.fromkeys((group, *range(GROUPS))):
            stroke: Stroke | None = self._groups[candidate].get(wanted) if candidate < GROUPS else None
            if stroke is not None:
                return stroke
        return None


def _fill(known: dict[int, Stroke], group: int, first: int, rows: Sequence[Sequence[int]]) -> None:
    cells = ((first + n, level, _cell(row, group, level)) for n, row in enumerate(rows) for level in (0, 1))
    for keycode, level, keysym in sorted(cells, key=lambda cell: (cell[0] >= _MAIN_BLOCK_END, cell[1], cell[0])):
        if keysym and not (level and _is_function(keysym)):
            known.setdefault(plain(keysym), Stroke(keycode, bool(level), group))


def _is_function(keysym: int) -> bool:
    """Tell whether it types nothing; the second level of such a key is often not Shift's (Break is Ctrl+Pause)."""
    return keysym < UNICODE and keysym in _FUNCTION_KEYS


def _cell(row: Sequence[int], group: int, level: int) -> int:
    column = 2 * group + level
    return row[column] if column < len(row) else 0
