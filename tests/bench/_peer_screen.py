"""What all watchers of `scripts/bench peers` are shown: single changes of every size, and a minute of work.

The minute is a session of `_desktop_session`, twice as large, without its idle end; then a lamp of 16x16 turns green.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tests.bench._desktop_session import Session, render
from tests.bench._peer_watchers import HEIGHT, WIDTH
from tests.integration.xserver import XServer

FLASH_S = 0.06
LAMP = (1100, 650, 16, 16)
LAMP_GREEN = (0, 192, 64)
LAMP_AT_S = 45.0
WORK_S = 60.0
SEED = 31
"""Of the sessions whose typing, progress bar and first dialog all lie within the minute."""
_SCALE = 2
_ROWS = 24


class Kind(NamedTuple):
    """A change: its box and what it is. `by_all`: large enough for every watcher, so its delay is measured."""

    name: str
    box: tuple[int, int, int, int]
    by_all: bool = False


KINDS = (
    Kind("letter", (40, 40, 8, 13)), Kind("dot 16x16", (1200, 20, 16, 16)), Kind("clock 40x12", (1140, 700, 40, 12)),
    Kind("line of text", (40, 80, 480, 13)), Kind("toast 200x80", (1060, 60, 200, 80), by_all=True),
    Kind("dialog 400x250", (440, 235, 400, 250), by_all=True), Kind("whole screen", (0, 0, WIDTH, HEIGHT), by_all=True),
    Kind("flash 400x250, 60 ms", (20, 400, 400, 250)), Kind("toast between two calls", (1060, 160, 200, 80)),
)  # fmt: skip
FLASH, BETWEEN = KINDS[-2], KINDS[-1]


class Change(NamedTuple):
    """One change of the script, so long after the watcher was armed."""

    kind: Kind
    after_s: float


def changes(rounds: int) -> list[Change]:
    """Return the script: every kind once a round, those whose delay counts twice, always in the same order."""
    chance = random.Random(7)
    found: list[Change] = []
    for _ in range(rounds):
        kinds = [*KINDS, *(kind for kind in KINDS if kind.by_all)]
        found += [Change(kind, chance.uniform(0.1, 0.7)) for kind in chance.sample(kinds, len(kinds))]
    return found


class Screen:
    """Owns a connection to the server and a window that covers it; every method returns when the server has drawn."""

    def __init__(self, server: XServer) -> None:
        from acud.x11.connection import Connection

        self._connection = Connection(server.display, server.auth_file)
        root = self._connection.root
        self._window = root.create_window(0, 0, WIDTH, HEIGHT, 0, 24, background_pixel=0xF0F0F0, override_redirect=True)
        self._window.map()
        self._gc = self._window.create_gc(foreground=0, background=0xF0F0F0, graphics_exposures=0)
        self._ground, self._count = 0xF0F0F0, 0
        self._connection.sync()

    def paint(self, kind: Kind) -> float:
        """Change it; return CLOCK_MONOTONIC in seconds just before the drawing was sent."""
        self._count += 1
        began_s = time.monotonic()
        if kind.name in ("letter", "line of text"):
            self._write(kind)
        else:
            self._fill(kind.box, self._colour())
        if kind == FLASH:
            self._connection.sync()
            time.sleep(FLASH_S)
            self._fill(kind.box, self._ground)
        elif kind.box[2:] == (WIDTH, HEIGHT):
            self._ground = self._colour()
        self._connection.sync()
        return began_s

    def _colour(self) -> int:
        return 0xE0E0E0 - self._count % 64 * 0x010201

    def _fill(self, box: tuple[int, int, int, int], colour: int) -> None:
        self._gc.change(foreground=colour)
        self._window.fill_rectangle(self._gc, *box)

    def _write(self, kind: Kind) -> None:
        x, y, width, height = kind.box
        self._fill(kind.box, 0xF0F0F0)
        self._gc.change(foreground=0)
        letters = bytes(97 + (n * 7 + self._count) % 26 for n in range(width // 6))
        self._window.draw_text(self._gc, x, y + height - 3, letters)

    # ---- the minute ------------------------------------------------------------------------------------------------

    def work(self, began_s: float) -> tuple[float, int]:
        """Play the minute up to the lamp; return when the lamp turned, and how many changes there were."""
        painted, before = 0, None
        for at_s, state in _session():
            time.sleep(max(0.0, began_s + at_s - time.monotonic()))
            now = render(state)
            painted += self._show(before, now)
            before = now
        time.sleep(max(0.0, began_s + LAMP_AT_S - time.monotonic()))
        red, green, blue = LAMP_GREEN
        lit_s = time.monotonic()
        self._fill(LAMP, red << 16 | green << 8 | blue)
        self._connection.sync()
        return lit_s, painted + 1

    def dark(self) -> None:
        """Put the lamp out, and show the session's beginning."""
        self._fill(LAMP, 0x202020)
        self._show(None, render(_session()[0][1]))

    def _show(self, before: Any, now: Any) -> int:
        """Put what differs; return 1 when anything did."""
        differs = np.ones(now.shape[:2], bool) if before is None else (now != before).any(axis=2)
        if not differs.any():
            return 0
        ys, xs = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
        part = now[ys[0] : ys[-1] + 1, xs[0] : xs[-1] + 1].repeat(_SCALE, 0).repeat(_SCALE, 1)
        for y, rows in _strips(part):
            place = int(xs[0]) * _SCALE, int(ys[0]) * _SCALE + y
            size = rows.shape[1], rows.shape[0]
            self._window.put_image(self._gc, *place, *size, 2, 24, 0, rows.tobytes())  # 2: ZPixmap
        self._connection.sync()
        return 1

    def close(self) -> None:
        self._connection.close()


def _session() -> list[tuple[float, Any]]:
    return [change for change in Session(SEED).changes if change[0] < LAMP_AT_S]


def _strips(part: Any) -> Iterator[tuple[int, Any]]:
    """Yield the picture in pieces small enough for one request each."""
    for y in range(0, part.shape[0], _ROWS):
        yield y, part[y : y + _ROWS]
