"""Input as if from a keyboard and a mouse: XTEST, packed by hand, which spares most of python-xlib's work a request."""

from __future__ import annotations

import struct

from Xlib import X

from acud.errors import Unavailable
from acud.x11.connection import Connection
from acud.x11.prepared import Order

EXTENSION = "XTEST"
_FAKE_INPUT = struct.Struct("=BBHBB2xII8xhh8x")  # xtestproto: FakeInput is minor 2, 9 words


class XTest:
    """Queues events; they travel with the next flush. Everything is at once (no server-side delay)."""

    def __init__(self, connection: Connection) -> None:
        self._wire = connection.wire
        self._name = connection.name
        self._root: int = connection.root.id
        self._opcode: int = self._wire.get_extension_major(EXTENSION) if connection.has(EXTENSION) else 0

    def require(self) -> None:
        """Raise Unavailable where the server has no XTEST."""
        if not self._opcode:
            raise Unavailable(f"the X server {self._name} takes no input: it lacks XTEST", hint="start it with XTEST")

    def key(self, keycode: int, *, down: bool) -> None:
        """Press or release a key. Releasing one that is up does nothing."""
        self._send(X.KeyPress if down else X.KeyRelease, keycode)

    def button(self, number: int, *, down: bool) -> None:
        """Press or release a button by its X number (4 to 7 are the wheel)."""
        self._send(X.ButtonPress if down else X.ButtonRelease, number)

    def motion(self, x: int, y: int) -> None:
        """Put the pointer at root pixels (x, y)."""
        self._send(X.MotionNotify, 0, self._root, x, y)

    def _send(self, kind: int, detail: int, root: int = 0, x: int = 0, y: int = 0) -> None:
        packed = _FAKE_INPUT.pack(self._opcode, 2, 9, kind, detail, 0, root, x, y)
        Order(self._wire, packed).send()
