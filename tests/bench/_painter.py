"""A window of dense text with a lamp that can be switched: the repaint that benchmarks wait for."""

from __future__ import annotations

import os
import time

from acud.types import DisplayInfo, Rect

LAMP = Rect(600, 300, 24, 24)
GREEN = "#00c040"
_GREEN_PIXEL = 0x00C040
_DARK_PIXEL = 0x202020


class Painter:
    """Owns a connection of its own to `display`; `paint` returns when the server has drawn."""

    def __init__(self, display: DisplayInfo) -> None:
        os.environ["XAUTHORITY"] = display.auth_file
        from Xlib import X
        from Xlib.display import Display

        self._display = Display(display.name)
        screen = self._display.screen()
        self._window = screen.root.create_window(
            0, 0, display.width, display.height, 0, screen.root_depth, background_pixel=0xF0F0F0, override_redirect=True
        )
        self._window.map()
        self._display.sync()
        self._text(display, self._window.create_gc(foreground=0x101010, background=0xF0F0F0))
        self._lamp = self._window.create_gc(foreground=_DARK_PIXEL, graphics_exposures=X.NONE)
        self.lamp(on=False)

    def _text(self, display: DisplayInfo, gc: object) -> None:
        for row in range(display.height // 14):
            line = f"{row:03d} the quick brown fox jumps over the lazy dog 0123456789 " * 4
            self._window.draw_text(gc, 4, 12 + row * 14, line.encode()[:200])
        self._display.sync()

    def lamp(self, *, on: bool) -> float:
        """Paint the lamp; return CLOCK_MONOTONIC in seconds just before the drawing was sent."""
        self._lamp.change(foreground=_GREEN_PIXEL if on else _DARK_PIXEL)
        began = time.monotonic()
        self._window.fill_rectangle(self._lamp, LAMP.x, LAMP.y, LAMP.w, LAMP.h)
        self._display.sync()
        return began

    def letter(self, column: int) -> None:
        """Type a letter in the first line."""
        ink = self._window.create_gc(foreground=0x101010, background=0xF0F0F0)
        self._window.draw_text(ink, 8 + column % 100 * 8, 12, bytes([97 + column % 26]))
        self._display.sync()

    def scene(self, step: int) -> None:
        """Show one picture of a film, 320x240 at (800, 400): drifting bands of colour."""
        band = self._window.create_gc(foreground=0)
        for row in range(0, 240, 4):
            band.change(foreground=(row + step * 3) % 256 << 16 | (row * 2 + step * 5) % 256 << 8 | (step * 7) % 256)
            self._window.fill_rectangle(band, 800 + (step + row) % 16, 400 + row, 304, 4)
        self._display.sync()

    def close(self) -> None:
        """Close the connection."""
        self._display.close()
