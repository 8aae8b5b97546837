"""Has the program that has the focus read its events? _NET_WM_PING (EWMH): it answers behind what it had to read."""

from __future__ import annotations

from Xlib import X
from Xlib.protocol import event

from acud.x11.connection import Connection
from acud.x11.tree import Tree, words

_MAX_DEPTH = 8


class Ping:
    """One ping at a time; an answer to an older one counts for nothing."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tree = Tree(connection)
        self._protocols: int = connection.wire.get_atom("WM_PROTOCOLS")
        self._ping: int = connection.wire.get_atom("_NET_WM_PING")
        self._number = 0
        self.is_answered = False

    def send(self) -> bool:
        """Ping the focused window; False when it takes no pings. A few round trips."""
        window = self._pingable(self._tree.input_focus())
        if not window:
            return False
        self._number += 1
        self.is_answered = False
        target = self._connection.xlib.create_resource_object("window", window)
        said = event.ClientMessage(
            window=target, client_type=self._protocols, data=(32, [self._ping, self._number, window, 0, 0])
        )
        target.send_event(said)
        return True

    def answered(self, number: int) -> None:
        """Note an answer (see `events.Ponged`)."""
        self.is_answered = self.is_answered or number == self._number

    def _pingable(self, window: int) -> int:
        """Return `window` or what is above it that takes pings; 0 when none does."""
        for _ in range(_MAX_DEPTH):
            if window in {X.NONE, X.PointerRoot, self._tree.root}:
                return 0
            found = self._tree.properties([window], [self._protocols]).get((window, self._protocols))
            if self._ping in words(found):
                return window
            window = self._tree.parent(window)
        return 0
