"""The screen that the soak paints: lamps and words that waits look for, and a corner whose colour says how old a
picture is."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from PIL import Image, ImageDraw, ImageFont
from Xlib import X
from Xlib.error import ConnectionClosedError, DisplayError, XError

from acud.base.errors import AcudError
from acud.types import Rect
from acud.x11.connection import Connection

WIDTH, HEIGHT = 320, 240
LAMPS = 27
GREEN, DARK, PAPER = 0x00C040, 0x202020, 0xF0F0F0
CORNER = Rect(304, 224, 16, 16)
_ACROSS = 9
WORDS = ("harvest", "lantern", "morning", "biscuit", "forest", "window")
_WORD_W, _WORD_H = 150, 40
_FONT = "DejaVuSans.ttf"
_BROKEN = (OSError, XError, ConnectionClosedError, DisplayError)
_GONE = (*_BROKEN, AcudError)


class CanvasGone(Exception):
    """The X server is not there any more."""


class Canvas:
    """A window over the whole of a display; painted is on the screen when a call returns. Any thread may paint.

    `lock` is held by who needs that nobody else paints meanwhile.
    """

    def __init__(self, display: str, auth_file: str) -> None:
        self.display, self.auth_file = display, auth_file
        self.lock = threading.RLock()
        self.gone = False
        self.lit: set[int] = set()
        self._free = list(range(LAMPS))
        self._unwritten = list(range(len(WORDS)))
        self._open()

    def _open(self) -> None:
        self._x = Connection(self.display, self.auth_file)
        try:
            self._begin()
        except _BROKEN as fault:
            raise CanvasGone(f"{self.display}: {fault}") from fault

    def _begin(self) -> None:
        self._window: Any = self._x.root.create_window(
            0, 0, WIDTH, HEIGHT, 0, X.CopyFromParent, X.InputOutput, X.CopyFromParent, background_pixel=PAPER,
            override_redirect=True,
        )  # fmt: skip
        self._window.map()
        for lamp in range(LAMPS):
            self._fill(spot(lamp), GREEN if lamp in self.lit else DARK)

    def revive(self) -> None:
        """Draw everything again on a server that was started anew."""
        with self.lock:
            self._open()
            self.gone = False

    def take_lamp(self) -> int:
        """Return a dark lamp that nobody else gets; -1 when there is none."""
        with self.lock:
            return self._free.pop(0) if self._free else -1

    def light(self, lamp: int) -> None:
        """Turn a lamp green for good. Raises: CanvasGone."""
        with self.lock:
            self._paint(spot(lamp), GREEN)
            self.lit.add(lamp)

    def take_word(self) -> int:
        """Return a word that is not written and that nobody else gets; -1 when there is none."""
        with self.lock:
            return self._unwritten.pop(0) if self._unwritten else -1

    def write(self, word: int) -> None:
        """Write a word for good. Raises: CanvasGone."""
        image = Image.new("RGB", (_WORD_W, _WORD_H), "white")
        ImageDraw.Draw(image).text((8, 3), WORDS[word], "black", ImageFont.truetype(_FONT, 26))
        self._guarded(lambda: self._put(word_spot(word), image.tobytes("raw", "BGRX")))

    def corner(self, colour: int) -> None:
        """Give the corner a colour. Raises: CanvasGone."""
        self._paint(CORNER, colour)

    def reset(self) -> None:
        """Turn every lamp dark and free. Raises: CanvasGone."""
        with self.lock:
            self.lit.clear()
            self._free = list(range(LAMPS))
            for lamp in range(LAMPS):
                self._paint(spot(lamp), DARK)
            self._unwritten = list(range(len(WORDS)))
            for word in range(len(WORDS)):
                self._paint(word_spot(word), PAPER)

    def _paint(self, box: Rect, colour: int) -> None:
        self._guarded(lambda: self._fill(box, colour))

    def _guarded(self, paint: Callable[[], None]) -> None:
        with self.lock:
            if self.gone:
                raise CanvasGone(self.display)
            try:
                paint()
            except _GONE as fault:
                self.gone = True
                raise CanvasGone(f"{self.display}: {fault}") from fault

    def _fill(self, box: Rect, colour: int) -> None:
        gc = self._window.create_gc(foreground=colour, graphics_exposures=False)
        self._window.fill_rectangle(gc, box.x, box.y, box.w, box.h)
        gc.free()
        self._x.sync()

    def _put(self, box: Rect, pixels: bytes) -> None:
        gc = self._window.create_gc()
        self._window.put_image(gc, box.x, box.y, box.w, box.h, X.ZPixmap, self._x.depth, 0, pixels)
        gc.free()
        self._x.sync()

    def close(self) -> None:
        with self.lock, suppress(*_GONE):
            self.gone = True
            self._x.close()


def spot(lamp: int) -> Rect:
    """Return where a lamp is: tiles of their own, so that one lamp is no change of another."""
    return Rect(16 + 32 * (lamp % _ACROSS), 16 + 32 * (lamp // _ACROSS), 16, 16)


def word_spot(word: int) -> Rect:
    """Return where a word is written: under the lamps, beside the corner."""
    return Rect(_WORD_W * (word % 2), 112 + _WORD_H * (word // 2), _WORD_W, _WORD_H)


def corner_of(picture: bytes) -> int:
    with Image.open(io.BytesIO(picture)) as opened:
        red, green, blue = opened.convert("RGB").getpixel((CORNER.x + 8, CORNER.y + 8))  # type: ignore[misc]
    return int(red) << 16 | int(green) << 8 | int(blue)


def rules() -> list[dict[str, Any]]:
    """Return what the scripted judge knows of lamps: yes to `lamp 07` when it is green."""
    return [
        {"pixel": [spot(n).x + 8, spot(n).y + 8, f"#{GREEN:06x}"], "answer": "yes", "criteria": f"lamp {n:02d}"}
        for n in range(LAMPS)
    ]
