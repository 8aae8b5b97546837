"""Where the pointer is, and which shape it has: beside the pixels, never in them."""

from __future__ import annotations

import struct
from typing import cast

from acud.x11.connection import Connection
from acud.x11.prepared import Question

EXTENSION = "XFIXES"
NO_SERIAL = 0

# QueryPointer, X11 protocol: opcode 38; in the reply root-x and root-y, 16 bytes from its start.
_QUERY_POINTER = struct.Struct("=BxHI")
_PLACE = struct.Struct("=16xhh")


class Cursor:
    """The pointer of one display. `serial` changes with its shape (XFIXES; 0 where the server lacks that)."""

    def __init__(self, connection: Connection) -> None:
        self._wire = connection.wire
        self._request = _QUERY_POINTER.pack(38, 2, connection.root.id)
        self._asked: Question | None = None
        self.serial = NO_SERIAL
        self.event_code: object = None
        if connection.has(EXTENSION):
            connection.xlib.xfixes_query_version()  # the server refuses clients that never asked
            connection.xlib.xfixes_select_cursor_input(connection.root, 1)
            self.serial = cast(int, connection.xlib.xfixes_get_cursor_image(connection.root).cursor_serial)
            self.event_code = connection.event_code("DisplayCursorNotify")

    def ask(self) -> None:
        """Queue the question; it travels with the next request that waits."""
        self._asked = Question(self._wire, self._request, _PLACE)

    def answer(self) -> tuple[int, int, int]:
        """Return (x, y, serial) as of the last `ask`, in root pixels."""
        if self._asked is None:
            self.ask()
        asked, self._asked = cast(Question, self._asked), None
        x, y = asked.answer()
        return x, y, self.serial
