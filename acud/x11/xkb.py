"""The keyboard's state: which layout group is active, which modifiers are locked. XKB protocol, library-free.

python-xlib has no XKEYBOARD; the requests needed are packed here (X Keyboard Extension protocol, appendix D).
"""

from __future__ import annotations

import struct

from msgspec import Struct

from acud.x11.connection import Connection
from acud.x11.prepared import Order, Question

EXTENSION = "XKEYBOARD"
LOCK = 2  # the Lock modifier's bit
_CORE = 0x0100  # XkbUseCoreKbd
_NEW_KEYBOARD = 1  # XkbNewKeyboardNotifyMask
_SELECT = struct.Struct("=BBHHHHHHH")
_USE = struct.Struct("=BBHHH")
_GET_STATE = struct.Struct("=BBHHxx")
_STATE = struct.Struct("=8xBBBBBB")
_LATCH_LOCK = struct.Struct("=BBHHBBBBBBxBH")


class KeyboardState(Struct, frozen=True):
    """`group`: the active layout, from 0. `has_caps`: Caps Lock is on."""

    group: int = 0
    has_caps: bool = False


class Xkb:
    """XKB on one connection; without the extension the state is always the first group."""

    def __init__(self, connection: Connection) -> None:
        self._wire = connection.wire
        asked = connection.xlib.query_extension(EXTENSION)
        self._opcode: int = asked.major_opcode if asked is not None else 0
        if self._opcode:  # the server refuses clients that never asked
            Question(self._wire, _USE.pack(self._opcode, 0, 2, 1, 0), struct.Struct("=xB")).answer()
            # Who speaks XKB hears of another layout by this event only, not by MappingNotify.
            packed = _SELECT.pack(self._opcode, 1, 4, _CORE, _NEW_KEYBOARD, 0, _NEW_KEYBOARD, 0, 0)
            Order(self._wire, packed).send()

    def state(self) -> KeyboardState:
        """Return the state now; one round trip."""
        if not self._opcode:
            return KeyboardState()
        said = Question(self._wire, _GET_STATE.pack(self._opcode, 4, 2, _CORE), _STATE).answer()
        return KeyboardState(group=said[4], has_caps=bool(said[3] & LOCK))

    def lock_group(self, group: int) -> None:
        """Make `group` the active one; events that follow carry it."""
        self._latch_lock(0, 0, 1, group)

    def lock_caps(self, *, on: bool) -> None:
        """Turn Caps Lock on or off."""
        self._latch_lock(LOCK, LOCK if on else 0, 0, 0)

    def _latch_lock(self, affect: int, mods: int, is_group: int, group: int) -> None:
        if self._opcode:
            packed = _LATCH_LOCK.pack(self._opcode, 5, 4, _CORE, affect, mods, is_group, group, 0, 0, 0, 0)
            Order(self._wire, packed).send()
