"""The pointer of one display: where it is and which shape it has; moved, pressed, dragged, its wheel turned."""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Iterator
from typing import cast

from acud.types.actions import Button, Direction, Point
from acud.x11.connection import Connection
from acud.x11.fake_input import InputTraceProperty, XTest
from acud.x11.input_guard import InputGuard, Misdirected
from acud.x11.input_steps import Pause
from acud.x11.wire import PackedQuery

EXTENSION = "XFIXES"
NO_SERIAL = 0
# QueryPointer, X11 protocol: opcode 38; in the reply root-x and root-y, 16 bytes from its start.
_QUERY_POINTER = struct.Struct("=BxHI")
_PLACE = struct.Struct("=16xhh")
NUMBERS = {Button.LEFT: 1, Button.MIDDLE: 2, Button.RIGHT: 3}
_WHEEL = {Direction.UP: 4, Direction.DOWN: 5, Direction.LEFT: 6, Direction.RIGHT: 7}
_STEP_PX = 24
_MIN_STEPS, _MAX_STEPS = 8, 40
_STEP_S = 0.008
"""A mouse reports 125 times a second; toolkits begin a drag after some motions past their threshold (GTK: 8 px)."""
_HOVER_S = 0.05  # before the release: a drop site answers the drag's positions (XDND) before it takes a drop


class Cursor:
    """The pointer of one display. `serial` changes with its shape (XFIXES; 0 where the server lacks that)."""

    def __init__(self, connection: Connection) -> None:
        self._wire = connection.wire
        self._request = _QUERY_POINTER.pack(38, 2, connection.root.id)
        self._asked: PackedQuery | None = None
        self.serial = NO_SERIAL
        self.event_code: object = None
        if connection.has(EXTENSION):
            connection.xlib.xfixes_query_version()  # the server refuses clients that never asked
            connection.xlib.xfixes_select_cursor_input(connection.root, 1)
            self.serial = cast(int, connection.xlib.xfixes_get_cursor_image(connection.root).cursor_serial)
            self.event_code = connection.event_code("DisplayCursorNotify")

    def queue_request(self) -> None:
        """Queue the request; it travels with the next one that waits."""
        self._asked = PackedQuery(self._wire, self._request, _PLACE)

    def read_answer(self) -> tuple[int, int, int]:
        """Return (x, y, serial) as of the last `queue_request`, in root pixels."""
        if self._asked is None:
            self.queue_request()
        asked, self._asked = cast(PackedQuery, self._asked), None
        x, y = asked.answer()
        return x, y, self.serial


class Pointer:
    """Moves and presses; `down` are the X numbers of the buttons it holds."""

    def __init__(self, connection: Connection, xtest: XTest, trace: InputTraceProperty) -> None:
        self._wire = connection.wire
        self._query = _QUERY_POINTER.pack(38, 2, connection.root.id)
        self._xtest, self._trace = xtest, trace
        self.down: set[int] = set()

    def read_position(self) -> Point:
        """Return where the pointer is after all requests so far; one round trip."""
        x, y = PackedQuery(self._wire, self._query, _PLACE).answer()
        return Point(x, y)

    def move(self, to: Point) -> None:
        self._xtest.motion(to.x, to.y)

    def press(self, button: Button) -> bool:
        """Press a button; return False if the button was down already."""
        number = NUMBERS[button]
        if number in self.down:
            return False
        self._trace.buttons(frozenset({number}))
        self.down.add(number)
        self._xtest.button(number, down=True)
        return True

    def release(self, button: Button) -> None:
        self._release_button(NUMBERS[button])

    def _release_button(self, number: int) -> None:
        self.down.discard(number)
        self._xtest.button(number, down=False)

    def click(self, button: Button, count: int) -> None:
        for _ in range(count):
            self.press(button)
            self.release(button)

    def scroll(self, direction: Direction, amount: int) -> None:
        number = _WHEEL[direction]
        self._trace.buttons(frozenset({number}))
        for _ in range(amount):
            self._xtest.button(number, down=True)
            self._xtest.button(number, down=False)

    def drag(self, start: Point, to: Point, button: Button, guard: InputGuard) -> Iterator[Pause]:
        """Press at `start`, move in steps, release at `to`; release at `start` if a window came in between. Raises:
        Misdirected.
        """
        self.move(start)
        with guard.pointer():
            guard.begin_drag(to)
            self.press(button)
        guard.count_sent(1)
        try:
            for place in _points_between(start, to):
                yield Pause(time.monotonic() + _STEP_S)
                self.move(place)
            yield Pause(time.monotonic() + _HOVER_S)
            self.move(to)
            with guard.check_drop():
                self.release(button)
        except Misdirected:
            self.move(start)
            self.release(button)
            raise

    def release_all(self) -> None:
        for number in sorted(self.down):
            self._release_button(number)

    def undo_leftovers(self, buttons: frozenset[int]) -> None:
        """Release the buttons that an earlier process may have left pressed."""
        for number in sorted(buttons):
            self._xtest.button(number, down=False)


def _points_between(start: Point, to: Point) -> Iterator[Point]:
    distance = math.hypot(to.x - start.x, to.y - start.y)
    steps = max(_MIN_STEPS, min(_MAX_STEPS, int(distance / _STEP_PX)))
    for n in range(1, steps + 1):
        share = n / steps
        yield Point(round(start.x + (to.x - start.x) * share), round(start.y + (to.y - start.y) * share))
