"""A client that paints without a pause, so that captures die while they grab."""

from __future__ import annotations

import contextlib
import threading
from types import TracebackType
from typing import Self

from acud.x11.connection import Connection

_COLOURS = (0xFF0000, 0x0000FF)


class Scribbler:
    """Paints the upper part of a display until the end of its `with`, or until the X server goes away."""

    def __init__(self, name: str, auth_file: str) -> None:
        self._connection = Connection(name, auth_file)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._paint)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()
        self._connection.close()

    def _paint(self) -> None:
        with contextlib.suppress(Exception):  # the server was killed: any error of the connection will do
            root = self._connection.root
            gc = root.create_gc()
            turn = 0
            while not self._stop.is_set():
                gc.change(foreground=_COLOURS[turn % 2])
                root.fill_rectangle(gc, 0, 0, 640, 100 + turn % 200)
                self._connection.sync()
                turn += 1
