"""The text round of `scripts/bench peers`: texts that appear on real windows, for watchers that wait for one of them.

A terminal that scrolls a line every two or three seconds, a page full of text, a dialog, two toasts. Each text has a
slot of five seconds and appears in it once, at a moment that is the same for all watchers; but for the short one it
stays until the watcher has told of it, or is given up.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from tests.bench._peer_watchers import HEIGHT, WIDTH
from tests.integration.xserver import XServer

SLOT_S = 5.0
SHORT_S = 1.0
"""So long the shortest text stands."""
KINDS = ("status line of a terminal", "dialog 400x160", "toast 260x60", "toast for 1 s", "line in a page of text")
STATUS, DIALOG, TOAST, SHORT, LINE = KINDS
BOXES = {DIALOG: (440, 280, 400, 160), TOAST: (1000, 20, 260, 60), SHORT: (1000, 640, 260, 60)}
"""The windows of those that have one of their own."""
_LOG_AT_S = (0.8, 3.3)
_EARLIEST_S, _LATEST_S = 1.5, 3.5
_COLUMN, _LINE_HEIGHT, _ROWS, _PITCH = WIDTH // 2, 18, 16, 30
"""Terminal and page have a column and sixteen lines each, the page's further apart."""
_STATUS_Y = _ROWS * _LINE_HEIGHT
_STRIP, _TEXT_TOP = 24, 20

Look = tuple[tuple[int, int, int], tuple[int, int, int]]
"""Ink and paper."""
_DARK: Look = ((0xD0, 0xD0, 0xD0), (0x1E, 0x1E, 0x1E))
_LIGHT: Look = ((0x10, 0x10, 0x10), (0xFA, 0xFA, 0xFA))
_INVERSE: Look = ((0x10, 0x10, 0x10), (0x90, 0xB0, 0x90))
_WORDS = (
    "the report of last week says that most users open their files from a list and save them in another place before "
    "they close the window so a program should keep both places and show which of them is newer when it starts again"
)
_SUBJECTS, _VERBS = ("Upload", "Export", "Backup", "Import", "Order"), ("finished", "complete", "accepted", "rejected")


class Appearance(NamedTuple):
    """A text of the round: what it says, how it appears, and so many seconds after its slot began."""

    text: str
    kind: str
    after_s: float


def appearances(rounds: int) -> list[Appearance]:
    """Return the script: every kind once a round, always the same."""
    chance = random.Random(11)
    numbers = iter(chance.sample(range(1000, 10000), rounds * len(KINDS)))
    found: list[Appearance] = []
    for kind in (kind for _ in range(rounds) for kind in chance.sample(KINDS, len(KINDS))):
        text = f"{chance.choice(_SUBJECTS)} {next(numbers)} {chance.choice(_VERBS)}"
        found.append(Appearance(text, kind, chance.uniform(_EARLIEST_S, _LATEST_S)))
    return found


class TextScreen:
    """Owns a connection to the server and the windows; every method returns when the server has drawn."""

    def __init__(self, server: XServer) -> None:
        from acud.x11.connection import Connection

        self._connection = Connection(server.display, server.auth_file)
        self._chance = random.Random(12)
        self._desktop = self._window((0, 0, WIDTH, HEIGHT))
        self._gc = self._desktop.create_gc(graphics_exposures=0)
        self._windows = {kind: self._window(box) for kind, box in BOXES.items()}
        self._pixels = np.full((HEIGHT, WIDTH, 4), 0xFA, np.uint8)
        self._log = [self._prose(7) for _ in range(_ROWS)]
        self._line_y = 0
        self._desktop.map()
        for row in range(_ROWS):
            self._write(_line(self._prose(11), _LIGHT), _COLUMN, row * _PITCH)
        self._scroll()
        self._write(_line("idle", _INVERSE), 0, _STATUS_Y)

    def _window(self, box: tuple[int, int, int, int]) -> Any:
        return self._connection.root.create_window(*box, 0, 24, background_pixel=0xFAFAFA, override_redirect=True)

    def _prose(self, words: int) -> str:
        return " ".join(self._chance.choices(_WORDS.split(), k=words))

    def play(self, one: Appearance) -> float:
        """Play its slot up to the last drawing; return CLOCK_MONOTONIC in seconds just before its text was drawn."""
        began_s = time.monotonic()
        todo: list[tuple[float, Callable[[], float]]] = [(at_s, self._scroll) for at_s in _LOG_AT_S]
        todo.append((one.after_s, lambda: self._show(one)))
        if one.kind == SHORT:
            todo.append((one.after_s + SHORT_S, lambda: self.clear(one)))
        drawn = {}
        for at_s, draw in sorted(todo, key=lambda part: part[0]):
            time.sleep(max(0.0, began_s + at_s - time.monotonic()))
            drawn[at_s] = draw()
        return drawn[one.after_s]

    def _show(self, one: Appearance) -> float:
        if one.kind == STATUS:
            return self._write(_line(one.text, _INVERSE), 0, _STATUS_Y)
        if one.kind == LINE:
            self._line_y = self._chance.randrange(_ROWS) * _PITCH
            return self._write(_line(f"{self._prose(4)} {one.text} {self._prose(4)}", _LIGHT), _COLUMN, self._line_y)
        began_s = time.monotonic()
        self._windows[one.kind].map()
        self._put(self._windows[one.kind], _box(one), 0, 0)
        return began_s

    def clear(self, one: Appearance) -> float:
        """Take the text away; return when."""
        began_s = time.monotonic()
        if one.kind == STATUS:
            return self._write(_line("idle", _INVERSE), 0, _STATUS_Y)
        if one.kind == LINE:
            return self._write(_line(self._prose(11), _LIGHT), _COLUMN, self._line_y)
        self._windows[one.kind].unmap()
        x, y, width, height = BOXES[one.kind]
        self._put(self._desktop, self._pixels[y : y + height, x : x + width], x, y)
        return began_s

    def _scroll(self) -> float:
        self._log = [*self._log[1:], self._prose(7)]
        began_s = time.monotonic()
        self._write(np.concatenate([_line(words, _DARK) for words in self._log]), 0, 0)
        return began_s

    def _write(self, picture: NDArray[np.uint8], x: int, y: int) -> float:
        began_s = time.monotonic()
        self._pixels[y : y + picture.shape[0], x : x + picture.shape[1]] = picture
        self._put(self._desktop, picture, x, y)
        return began_s

    def _put(self, window: Any, picture: NDArray[np.uint8], x: int, y: int) -> None:
        for top in range(0, picture.shape[0], _STRIP):  # small enough for one request each
            part = np.ascontiguousarray(picture[top : top + _STRIP])
            window.put_image(self._gc, x, y + top, part.shape[1], part.shape[0], 2, 24, 0, part.tobytes())  # 2: ZPixmap
        self._connection.sync()

    def close(self) -> None:
        self._connection.close()


def line_of(one: Appearance) -> NDArray[np.uint8]:
    """Return the text alone, in the letters that it appears in: height x width x 4 uint8 BGRX."""
    if one.kind not in BOXES:
        return _line(one.text, _INVERSE if one.kind == STATUS else _LIGHT)[:, :200]
    return _box(one)[_TEXT_TOP - 4 : _TEXT_TOP + 20]


def _line(words: str, look: Look) -> NDArray[np.uint8]:
    ink, paper = look
    picture = Image.new("RGB", (_COLUMN, _LINE_HEIGHT), paper)
    font = "DejaVuSans.ttf" if look is _LIGHT else "DejaVuSansMono.ttf"
    ImageDraw.Draw(picture).text((8, 1), words, ink, _font(font, 13))
    return _bgrx(picture)


def _box(one: Appearance) -> NDArray[np.uint8]:
    _, _, width, height = BOXES[one.kind]
    ink, paper = _LIGHT if one.kind == DIALOG else _DARK
    picture = Image.new("RGB", (width, height), paper)
    drawn = ImageDraw.Draw(picture)
    drawn.rectangle((0, 0, width - 1, height - 1), outline=(0x60, 0x60, 0x60))
    drawn.text((16, _TEXT_TOP), one.text, ink, _font("DejaVuSans.ttf", 14))
    if one.kind == DIALOG:
        drawn.text((16, 60), "Do you want to open the folder now?", ink, _font("DejaVuSans.ttf", 13))
        for x, name in ((230, "Cancel"), (320, "Open")):
            drawn.rectangle((x, 118, x + 70, 146), outline=(0x60, 0x60, 0x60))
            drawn.text((x + 12, 123), name, ink, _font("DejaVuSans.ttf", 13))
    return _bgrx(picture)


@cache
def _font(name: str, px: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(name, px)


def _bgrx(picture: Image.Image) -> NDArray[np.uint8]:
    pixels = np.zeros((picture.height, picture.width, 4), np.uint8)
    pixels[:, :, :3] = np.asarray(picture)[:, :, ::-1]
    return pixels
