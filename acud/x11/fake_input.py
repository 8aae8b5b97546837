"""Input as from a keyboard and a mouse (XTEST), and its trace on the display: what may have been left pressed.

XTEST's requests are packed by hand, which spares most of python-xlib's work a request. The root window's property
`_ACUD_INPUT` outlives the capture process; the next one reads it and mends. It is written before the input is sent, and
names a superset: releasing a key that is up does nothing (XTEST drops it), so an entry may stay until the input has
ended, and a click that follows another costs no further write.
"""

from __future__ import annotations

import struct
from typing import Self

import msgspec
from msgspec import Struct
from Xlib import X, Xatom
from Xlib.protocol import request

from acud.base.errors import Unavailable
from acud.x11.connection import Connection
from acud.x11.window_tree import WindowTree, words
from acud.x11.wire import PackedRequest

EXTENSION = "XTEST"
_FAKE_INPUT = struct.Struct("=BBHBB2xII8xhh8x")  # xtestproto: FakeInput is minor 2, 9 words
_PROPERTY = "_ACUD_INPUT"
_VERSION = 1
_NO_GROUP = 0


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
        self._send_event(X.KeyPress if down else X.KeyRelease, keycode)

    def button(self, number: int, *, down: bool) -> None:
        """Press or release a button by its X number (4 to 7 are the wheel)."""
        self._send_event(X.ButtonPress if down else X.ButtonRelease, number)

    def motion(self, x: int, y: int) -> None:
        """Put the pointer at root pixels (x, y)."""
        self._send_event(X.MotionNotify, 0, self._root, x, y)

    def _send_event(self, kind: int, detail: int, root: int = 0, x: int = 0, y: int = 0) -> None:
        packed = _FAKE_INPUT.pack(self._opcode, 2, 9, kind, detail, 0, root, x, y)
        PackedRequest(self._wire, packed).send()


class InputTrace(Struct, frozen=True):
    """`keys`: keycodes; `buttons`: X numbers; `maps`: per keycode the two keysyms put on it; `group`: the layout group
    to restore (None: it was not changed); `caps`: Caps Lock must be turned on again.
    """

    keys: frozenset[int] = frozenset()
    buttons: frozenset[int] = frozenset()
    maps: tuple[tuple[int, int, int], ...] = ()
    group: int | None = None
    caps: bool = False

    def to_words(self) -> list[int]:
        flat = [word for entry in self.maps for word in entry]
        group = _NO_GROUP if self.group is None else self.group + 1
        head = [_VERSION, group, int(self.caps), len(self.keys), len(self.buttons), len(self.maps)]
        return [*head, *sorted(self.keys), *sorted(self.buttons), *flat]

    @classmethod
    def of_words(cls, value: list[int]) -> Self | None:
        """Return the trace that `to_words` wrote; None for anything else."""
        if len(value) < 6 or value[0] != _VERSION:
            return None
        _, group, caps, keys, buttons, maps = value[:6]
        if len(value) != 6 + keys + buttons + 3 * maps:
            return None
        rest = value[6:]
        flat = rest[keys + buttons :]
        return cls(
            keys=frozenset(rest[:keys]),
            buttons=frozenset(rest[keys : keys + buttons]),
            maps=tuple((flat[n], flat[n + 1], flat[n + 2]) for n in range(0, len(flat), 3)),
            group=group - 1 if group else None,
            caps=bool(caps),
        )


class InputTraceProperty:
    """The property on one display. `now` is its value."""

    def __init__(self, connection: Connection) -> None:
        self._wire = connection.wire
        self._tree = WindowTree(connection)
        self._root: int = connection.root.id
        self._atom: int = connection.wire.get_atom(_PROPERTY)
        self.now = InputTrace()

    def read(self) -> InputTrace | None:
        """Return what an earlier process left; None for nothing. One round trip."""
        found = self._tree.properties([self._root], [self._atom]).get((self._root, self._atom))
        return InputTrace.of_words(words(found))

    def keys(self, keys: frozenset[int]) -> None:
        if not keys <= self.now.keys:
            self.write(msgspec.structs.replace(self.now, keys=self.now.keys | keys))

    def buttons(self, buttons: frozenset[int]) -> None:
        if not buttons <= self.now.buttons:
            self.write(msgspec.structs.replace(self.now, buttons=self.now.buttons | buttons))

    def maps(self, maps: tuple[tuple[int, int, int], ...]) -> None:
        """Record in the property which keysyms spare keycodes were given."""
        self.write(msgspec.structs.replace(self.now, maps=maps))

    def state(self, group: int | None, *, caps: bool) -> None:
        """Record the keyboard state to restore."""
        if (group, caps) != (self.now.group, self.now.caps):
            self.write(msgspec.structs.replace(self.now, group=group, caps=caps))

    def write(self, trace: InputTrace) -> None:
        """Queue `trace` as the property; an empty one deletes the property."""
        if trace == self.now:
            return
        self.now = trace
        if trace == InputTrace():
            request.DeleteProperty(display=self._wire, window=self._root, property=self._atom)
            return
        request.ChangeProperty(
            display=self._wire, mode=X.PropModeReplace, window=self._root, property=self._atom,
            type=Xatom.CARDINAL, data=(32, trace.to_words()),
        )  # fmt: skip
