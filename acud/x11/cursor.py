"""Where the pointer is, and which shape it has: beside the pixels, never in them."""

from __future__ import annotations

from typing import Any, cast

from Xlib.protocol import request

from acud.x11.connection import Connection

EXTENSION = "XFIXES"
NO_SERIAL = 0


class Cursor:
    """The pointer of one display. `serial` changes with its shape (XFIXES; 0 where the server lacks that)."""

    def __init__(self, connection: Connection) -> None:
        self._wire = connection.wire
        self._root: int = connection.root.id
        self._asked: Any = None
        self.serial = NO_SERIAL
        self.event_code: object = None
        if connection.has(EXTENSION):
            connection.xlib.xfixes_query_version()  # the server refuses clients that never asked
            connection.xlib.xfixes_select_cursor_input(connection.root, 1)
            self.serial = cast(int, connection.xlib.xfixes_get_cursor_image(connection.root).cursor_serial)
            self.event_code = connection.event_code("DisplayCursorNotify")

    def ask(self) -> None:
        """Queue the question; it travels with the next request that waits."""
        self._asked = request.QueryPointer(display=self._wire, defer=True, window=self._root)

    def answer(self) -> tuple[int, int, int]:
        """Return (x, y, serial) as of the last `ask`, in root pixels."""
        asked, self._asked = self._asked, None
        asked.reply()
        return asked.root_x, asked.root_y, self.serial
