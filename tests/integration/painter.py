"""An X client that draws, and reads the screen in python-xlib's plain way: what capture is compared with."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from Xlib import X

from acud.types import Rect
from acud.x11.connection import Connection
from tests.integration.xserver import XServer

Pixels = npt.NDArray[np.uint8]
RED, GREEN, BLUE, WHITE = 0xFF0000, 0x00FF00, 0x0000FF, 0xFFFFFF


class Painter:
    """A client of `server`. Each drawing has happened in the server when the call returns."""

    def __init__(self, server: XServer) -> None:
        self.connection = Connection(server.display, server.auth_file)
        self.root: Any = self.connection.root
        self._gcs: dict[int, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.connection.close()

    def window(self, box: Rect, background: int, title: str = "", *, managed: bool = True, border: int = 0) -> Any:
        """Map a window whose background the server itself paints."""
        window = self.root.create_window(
            box.x, box.y, box.w, box.h, border, X.CopyFromParent, X.InputOutput, X.CopyFromParent,
            background_pixel=background, override_redirect=not managed,
        )  # fmt: skip
        if title:
            window.set_wm_name(title)
            window.set_wm_class("painter", "Painter")
        window.map()
        self.connection.sync()
        return window

    def fill(self, box: Rect, colour: int, window: Any = None) -> None:
        drawable = self.root if window is None else window
        gc = self._gcs.get(drawable.id)
        if gc is None:
            gc = self._gcs[drawable.id] = drawable.create_gc(subwindow_mode=X.IncludeInferiors)
        gc.change(foreground=colour)
        drawable.fill_rectangle(gc, box.x, box.y, box.w, box.h)
        self.connection.sync()

    def resize_screen(self, width: int, height: int) -> None:
        """Give the screen another size, at most the one it started with; its one output is switched off for that."""
        found = self.root.xrandr_get_screen_resources()
        self.connection.xlib.xrandr_set_crtc_config(found.crtcs[0], found.config_timestamp, 0, 0, 0, 1, [])
        self.root.xrandr_set_screen_size(width, height, width, height)
        self.connection.sync()

    def look(self, drawable: Any = None) -> Pixels:
        """Return the pixels of `drawable` (the root) through core GetImage: height x width x 4, fourth byte zeroed."""
        drawable = self.root if drawable is None else drawable
        size = drawable.get_geometry()
        image = drawable.get_image(0, 0, size.width, size.height, X.ZPixmap, 0xFFFFFFFF)
        return plain(np.frombuffer(image.data, np.uint8).reshape(size.height, size.width, 4))


def plain(pixels: Pixels) -> Pixels:
    """Return a copy with the undefined fourth byte zeroed."""
    kept = pixels.copy()
    kept[..., 3] = 0
    return kept


def tiles_of(old: Pixels, new: Pixels) -> set[int]:
    """Return the numbers of the tiles that differ, plainly computed."""
    columns = -(-old.shape[1] // 16)
    ys, xs = np.nonzero((old[..., :3] != new[..., :3]).any(axis=2))
    return set(((ys // 16) * columns + xs // 16).tolist())


def tiles_in(bitmap: bytes) -> set[int]:
    """Return the numbers of the tiles set in a notice's bitmap."""
    bits = np.unpackbits(np.frombuffer(bitmap, np.uint8), bitorder="little")
    return set(np.flatnonzero(bits).tolist())
