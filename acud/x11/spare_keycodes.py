"""Which keysyms are put on which spare keycodes, least recently used first; pure, times are passed in.

A client reads the mapping as it is when it handles an event, not as it was when the key was pressed. So a keycode that
was used must not mean something else until everybody has read the event: `LINGER_S` later, or once `settled` was
told (the focused program answered a ping sent after it). Each keycode holds two keysyms, plain and with Shift.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct

LINGER_S = 1.0
"""How long a program that answers no ping may take to read a key; a busy machine takes its time: 0.4 s was too little
for an xterm beside a run of the tests."""


class KeycodeSlot(Struct, frozen=True):
    """Where a keysym is: a keycode, and whether Shift is needed."""

    keycode: int
    shift: bool


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
        """What is on the keycodes that hold something."""
        return {keycode: pair for keycode, pair in self._pairs.items() if any(pair)}

    @property
    def keycodes(self) -> tuple[int, ...]:
        """Every spare keycode."""
        return tuple(self._pairs)

    def find(self, keysym: int) -> KeycodeSlot | None:
        """Return where `keysym` is; None when it is nowhere."""
        for keycode, pair in self._pairs.items():
            if keysym in pair:
                return KeycodeSlot(keycode, shift=pair[0] != keysym)
        return None

    def use(self, keycode: int, now_s: float) -> None:
        """Note that the key was pressed."""
        if keycode in self._pairs:
            self._used_s[keycode] = now_s

    def settled(self, until_s: float) -> None:
        """Note that every key pressed until then was read."""
        self._settled_s = max(self._settled_s, until_s)

    @property
    def last_used_s(self) -> float:
        """When a spare key was pressed last; -inf for never."""
        return max(self._used_s.values(), default=-math.inf)

    def plan(self, wanted: Iterable[int]) -> KeycodePlan:
        """Return how to make room for as many of `wanted` as fit, in that order; the first one is nowhere yet."""
        kept: set[int] = set()
        new: list[int] = []
        for keysym in dict.fromkeys(wanted):
            slot = self.find(keysym)
            held = kept | {slot.keycode} if slot else kept
            more = new if slot else [*new, keysym]
            if len(held) + _keycodes(more) > len(self._pairs):
                break
            kept, new = held, more
        return self._placed(new, kept)

    def _placed(self, new: list[int], kept: set[int]) -> KeycodePlan:
        oldest = sorted((k for k in self._pairs if k not in kept), key=lambda k: self._used_s.get(k, -math.inf))
        pairs = [(new[n], new[min(n + 1, len(new) - 1)]) for n in range(0, len(new), 2)]
        changes = dict(zip(oldest, pairs, strict=False))
        return KeycodePlan(changes, max((self._free_s(keycode) for keycode in changes), default=-math.inf))

    def _free_s(self, keycode: int) -> float:
        used_s = self._used_s.get(keycode, -math.inf)
        return -math.inf if used_s <= self._settled_s else used_s + LINGER_S

    def put(self, changes: dict[int, tuple[int, int]]) -> None:
        """Note that `changes` were made; a pair (0, 0) is an empty key."""
        self._pairs |= changes

    def forget(self, keycodes: Iterable[int]) -> None:
        """Note that `keycodes` are no longer spare: another program changed the layout."""
        for keycode in list(keycodes):
            self._pairs.pop(keycode, None)


def _keycodes(keysyms: list[int]) -> int:
    return (len(keysyms) + 1) // 2
