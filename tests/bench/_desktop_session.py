"""Five minutes of a desktop, scripted and seeded: typing, two dialogs, a progress bar, a caret, a clock; the rest idle.

Every state is rendered to pixels, so tiles and identities are the real ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from acud.pixels.tiles import TileCompare, bitmap, identity
from acud.waits.tiles import from_bytes

WIDTH, HEIGHT = 320, 192
SESSION_S = 300.0
TYPING_S = 40.0
PROGRESS_S = 30.0
BLINK_S = 0.53
"""Half a caret's period, as Windows has it; a key shows the caret at once and starts its period anew."""
PER_LINE, LINES = 26, 9


class State(NamedTuple):
    """What the display shows. `progress`: percent, -1 without its window. `dialog`: 0 for none. `minute`: the clock."""

    typed: int = 0
    caret: bool = True
    dialog: int = 0
    progress: int = -1
    minute: int = 0


Move = tuple[float, str, int]
"""A second, a field of `State`, its new value."""


def script(seed: int, *, overlap: bool = True) -> list[Move]:
    """Return the session's moves but the caret's, in order of time.

    A download begins within the first seconds of typing and runs beside it; without `overlap` some time after it.
    """
    chance = random.Random(seed)
    typing_at = chance.uniform(5, 30)
    gap = chance.uniform(0, 5)
    progress_at = typing_at + gap + (0 if overlap else TYPING_S + 5)
    moves = [*_typing(chance, typing_at), *_progress(chance, progress_at), *_clock(chance)]
    moves += _dialog(chance, 1, chance.uniform(5, 130))
    moves += _dialog(chance, 2, chance.uniform(150, 280))
    return sorted(move for move in moves if move[0] < SESSION_S)


def _typing(chance: random.Random, start: float) -> Iterator[Move]:
    """Words of 4 to 20 keys at 5 to 9 keys a second, pauses for thought between them."""
    now, typed = start, 0
    while now < start + TYPING_S:
        for _ in range(chance.randint(4, 20)):
            typed += 1
            yield now, "typed", typed
            now += chance.uniform(0.11, 0.2)
        now += chance.uniform(1.0, 4.0)


def _progress(chance: random.Random, start: float) -> Iterator[Move]:
    """A window whose bar goes from 0 to 100 in 30 s, a percent at a time, and closes some seconds later."""
    cuts = sorted(chance.uniform(0, PROGRESS_S) for _ in range(99))
    for percent, after in enumerate([0.0, *cuts, PROGRESS_S]):
        yield start + after, "progress", percent
    yield start + PROGRESS_S + chance.uniform(2, 8), "progress", -1


def _clock(chance: random.Random) -> Iterator[Move]:
    first = chance.uniform(0, 60)
    for minute in range(5):
        yield first + 60 * minute, "minute", minute + 1


def _dialog(chance: random.Random, number: int, start: float) -> list[Move]:
    return [(start, "dialog", number), (start + chance.uniform(4, 15), "dialog", 0)]


def states(moves: list[Move]) -> list[tuple[float, State]]:
    now, blink_at, state = 0.0, BLINK_S, State()
    found = [(now, state)]
    for when, name, value in [*moves, (SESSION_S, "typed", -1)]:
        while blink_at < when:
            state = state._replace(caret=not state.caret)
            found.append((blink_at, state))
            blink_at += BLINK_S
        if when < SESSION_S:
            state = state._replace(**{name: value})
            if name == "typed":
                state, blink_at = state._replace(caret=True), when + BLINK_S
            found.append((when, state))
    return found


# ---- pixels --------------------------------------------------------------------------------------------------------


def render(state: State) -> NDArray[np.uint8]:
    """Return the display's pixels: HEIGHT x WIDTH x 4 uint8 BGRX. Nothing covers anything else."""
    frame = np.full((HEIGHT, WIDTH, 4), 235, np.uint8)
    frame[:12] = (90, 60, 40, 0)
    _digits(frame, 280, 2, state.minute)
    _text(frame, state.typed)
    if state.caret:
        x, y = _place(state.typed)
        frame[y : y + 9, x : x + 2] = 0
    if state.progress >= 0:
        frame[150:180, 40:280] = 200
        frame[160:170, 50 : 50 + 2 * state.progress] = (200, 120, 0, 0)
    if state.dialog:
        frame[40:110, 200:312] = (250, 250, 250, 0)
        frame[50:62, 206 : 206 + 40 * state.dialog] = 30
    return frame


def _text(frame: NDArray[np.uint8], typed: int) -> None:
    for index in range(typed):
        x, y = _place(index)
        shape = index * 2654435761 >> 7
        for dot in range(15):
            if shape >> dot & 1:
                frame[y + 1 + dot // 3, x + dot % 3] = 20


def _place(index: int) -> tuple[int, int]:
    line, column = divmod(index, PER_LINE)
    return 10 + column * 7, 18 + line % LINES * 14


def _digits(frame: NDArray[np.uint8], x: int, y: int, minute: int) -> None:
    for bit in range(6):
        if minute >> bit & 1:
            frame[y : y + 8, x + bit * 5 : x + bit * 5 + 3] = 250


class Session:
    """A seeded session as a film of `_replay`."""

    width, height = WIDTH, HEIGHT

    def __init__(self, seed: int, *, overlap: bool = True) -> None:
        self.changes: list[tuple[float, State]] = states(script(seed, overlap=overlap))
        self._compare = TileCompare(WIDTH, HEIGHT)
        self.pixels = cache(render)
        self.identity = cache(lambda state: identity(self.pixels(state)))

    def tiles(self, before: State, after: State) -> int:
        return from_bytes(bitmap(self._compare.find_changes(self.pixels(before), self.pixels(after))))
