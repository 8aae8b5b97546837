"""Messages of one turn of the event loop in one write: a walk makes thousands of small calls at once.

dbus-fast writes each message by itself. Each write wakes the bus daemon and that wakes the application, so that a walk
of 300 widgets was mostly changes of context (`scripts/bench scene`: `ax_300_ms`).
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from dbus_fast.aio import MessageBus

_FULL_S = 0.002
"""A bus daemon that does not read is tried again after so long."""


class BatchingSocket:
    """Stands where the writer of a bus connection expects its socket. The socket stays the connection's."""

    def __init__(self, sock: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
        self._sock = sock
        self._loop = loop
        self._waiting = bytearray()
        self._scheduled = False

    def send(self, data: memoryview) -> int:
        """Take `data`, to be written at the end of this turn: all of it, callers have few calls under way at a time."""
        self._waiting += data
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._flush)
        return len(data)

    def _flush(self) -> None:
        self._scheduled = False
        if not self._waiting or self._sock.fileno() < 0:
            return
        try:
            sent = self._sock.send(self._waiting)
        except BlockingIOError:
            sent = 0
        except OSError:
            return  # the connection's reader sees the end of it too, and ends every call
        del self._waiting[:sent]
        if self._waiting:
            self._scheduled = True
            self._loop.call_later(_FULL_S, self._flush)


def batch_writes(bus: MessageBus) -> None:
    """Have `bus`, which is connected, write what one turn sends at once."""
    writer: Any = bus._writer  # dbus-fast offers no other way to hold writes back
    writer.sock = BatchingSocket(writer.sock, asyncio.get_running_loop())
