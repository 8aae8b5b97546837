"""A ZeroMQ socket in an asyncio loop, without the futures that `zmq.asyncio` makes for each message."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import zmq

_AT_ONCE = 64
"""Messages read in one turn of the loop; others have theirs in between."""
_READABLE = int(zmq.POLLIN)


class SocketReader:
    """Calls `came` with the parts of each message that comes to `socket`, in the running loop, until `stop`; after that
    whoever made the socket closes it.
    """

    def __init__(self, socket: zmq.Socket[bytes], came: Callable[[list[bytes]], None]) -> None:
        self._socket = socket
        self._came = came
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(socket.fileno(), self._read)
        self._again: asyncio.Handle | None = self._loop.call_soon(self._read)

    def stop(self) -> None:
        """Read no more."""
        self._loop.remove_reader(self._socket.fileno())
        if self._again is not None:
            self._again.cancel()

    def send(self, parts: list[bytes]) -> None:
        """Send a message at once. Raises: zmq.ZMQError when it can't be (EAGAIN; of a ROUTER EHOSTUNREACH)."""
        try:
            self._socket.send_multipart(parts, zmq.NOBLOCK)
        finally:
            # The descriptor tells of a change once, and sending may use that up (zmq_getsockopt(3), ZMQ_FD).
            if self._again is None and int(self._socket.getsockopt(zmq.EVENTS)) & _READABLE:
                self._again = self._loop.call_soon(self._read)

    def _read(self) -> None:
        self._again = None
        for _ in range(_AT_ONCE):
            try:
                parts = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            self._came(parts)
        if self._again is None:
            self._again = self._loop.call_soon(self._read)
