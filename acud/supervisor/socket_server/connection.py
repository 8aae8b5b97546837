"""One client's connection: what came and was not served yet, and what it has not read yet."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
from collections import deque

from acud.protocol import zmtp

SMALL_BYTES = 16 * 1024
"""What is read of a connection at once, and kept of it; a message that is larger needs a place (`SocketServer`)."""
_LARGE_READ = 256 * 1024
_UCRED = struct.Struct("3i")
_PIECES = 64
"""Pieces for one sendmsg(2)."""


class ServerConnection:
    """A connection that was accepted. `client` names the process behind it: all of its connections share their turn."""

    def __init__(self, connection: socket.socket, bounds: zmtp.Bounds, hello: bytes, now_s: float) -> None:
        self._socket = connection
        self._decoder = zmtp.Decoder(bounds)
        self._out: deque[memoryview] = deque()
        self.client = str(_UCRED.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))[0])
        self.message: list[bytes] | None = None
        """What came next and was not served yet."""
        self.has_place = False
        """Whether it may hold a large message."""
        self.out_bytes = 0
        """What it has not read yet."""
        self.moved_s = now_s
        """When it last read something, or there was nothing to read."""
        self.read_s = now_s
        """When something came of it last."""
        self.began_s = now_s
        """When it connected, until its handshake is whole; then when the message began that is under way."""
        self.unanswered = 0
        """Messages of it that were taken and not answered."""
        self.events = 0
        """The events to request of epoll(7) for it."""
        self.is_open = True
        self.prefixes: set[bytes] = set()
        """What it subscribed to."""
        self.queue([zmtp.GREETING, hello], now_s)

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._socket.fileno()

    @property
    def peer(self) -> str:
        """The peer's type of socket, "" before its handshake is whole."""
        return self._decoder.peer

    @property
    def under_way(self) -> int:
        """The bytes that came of it and are no message that was taken."""
        return self._decoder.held_bytes

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way on it, in either direction, and it subscribed to nothing."""
        return not (self.unanswered or self.message or self.out_bytes or self.under_way or self.prefixes)

    @property
    def wanted(self) -> int:
        """What epoll(7) is to tell of it: nothing that comes while a message waits, nor while it reads no replies."""
        reads = self.message is None and not self.out_bytes and (self.has_place or self.under_way < SMALL_BYTES)
        return select.EPOLLRDHUP | (select.EPOLLIN if reads else 0) | (select.EPOLLOUT if self.out_bytes else 0)

    def read(self, now_s: float) -> bool:
        """Read once; False at its end."""
        try:
            data = self._socket.recv(_LARGE_READ if self.has_place else SMALL_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if self.peer and not self.under_way:
            self.began_s = now_s
        self.read_s = now_s
        self._decoder.feed(data)
        return bool(data)

    def decode(self) -> bool:
        """Have `message` be the next one, where it is whole. Raises: zmtp.Malformed."""
        if self.message is None:
            self.message = self._decoder.next()
        return self.message is not None

    def answer(self, now_s: float) -> bool:
        """Queue the answers to its commands; True when there were some to `write`."""
        answers, self._decoder.answers = self._decoder.answers, []
        self.queue(answers, now_s)
        return bool(answers)

    def take(self) -> list[bytes]:
        """Return the message that waits, once."""
        message, self.message = self.message, None
        assert message is not None
        self.unanswered += 1
        self.began_s = self.read_s  # of what came with it, the next message
        return message

    def queue(self, pieces: list[bytes], now_s: float) -> None:
        """Have these bytes written, as far as it reads them; `write` goes on with the rest."""
        if not self.out_bytes:
            self.moved_s = now_s
        self._out += map(memoryview, pieces)
        self.out_bytes += sum(map(len, pieces))

    def write(self, now_s: float) -> bool:
        """Write what it takes now; False when it is gone."""
        while self._out:
            try:
                sent = self._socket.sendmsg([self._out[place] for place in range(min(_PIECES, len(self._out)))])
            except BlockingIOError:
                return True
            except OSError:
                return False
            self.moved_s = now_s
            self._drop(sent)
        return True

    def _drop(self, sent: int) -> None:
        self.out_bytes -= sent
        while self._out and sent >= len(self._out[0]):
            sent -= len(self._out.popleft())
        if sent:
            self._out[0] = self._out[0][sent:]

    def close(self) -> None:
        """Let go of it and of all that is kept of it."""
        self.is_open = False
        self._out.clear()
        self.message = None
        self.out_bytes = 0
        with contextlib.suppress(OSError):
            self._socket.close()
