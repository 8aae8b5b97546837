"""One client's connection: messages that were not served yet, and replies that it has not read yet."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
from collections import deque

from acud.protocol import zmtp

SMALL_BYTES = 16 * 1024
"""Bytes that are read and kept of a connection; a larger message needs one of the places of `SocketServer`."""
_LARGE_READ = 256 * 1024
_UCRED = struct.Struct("3i")
_PIECES = 64  # pieces for one sendmsg(2)


class ServerConnection:
    """A connection that was accepted. `client` names the process behind it: all of its connections share their turn."""

    def __init__(self, connection: socket.socket, bounds: zmtp.Bounds, hello: bytes, now_s: float) -> None:
        self._socket = connection
        self._decoder = zmtp.Decoder(bounds)
        self._out: deque[memoryview] = deque()
        self.client = str(_UCRED.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))[0])
        self.message: list[bytes] | None = None  # the next message, not served yet
        self.has_place = False  # whether it may hold a large message
        self.out_bytes = 0  # bytes queued that the client has not read yet
        self.moved_s = now_s  # when the client last read something, or there was nothing to read
        self.read_s = now_s  # when the client last sent something
        self.began_s = now_s
        """When it connected, until its handshake is complete; then when the message under way began."""
        self.unanswered = 0  # messages that were taken and not answered
        self.events = 0  # the events that epoll(7) reports now
        self.is_open = True
        self.prefixes: set[bytes] = set()  # the client's subscriptions
        self.queue([zmtp.GREETING, hello], now_s)

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def peer(self) -> str:
        """The peer's socket type, "" before its handshake is complete."""
        return self._decoder.peer

    @property
    def under_way(self) -> int:
        """The bytes received that belong to no taken message."""
        return self._decoder.held_bytes

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way in either direction and it has no subscription."""
        return not (self.unanswered or self.message or self.out_bytes or self.under_way or self.prefixes)

    @property
    def wanted(self) -> int:
        """The epoll(7) events needed: no input while a message waits or replies are unread."""
        reads = self.message is None and not self.out_bytes and (self.has_place or self.under_way < SMALL_BYTES)
        return select.EPOLLRDHUP | (select.EPOLLIN if reads else 0) | (select.EPOLLOUT if self.out_bytes else 0)

    def read(self, now_s: float) -> bool:
        """Read once; return False at the end of the stream."""
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
        """Set `message` to the next one if it is complete; return whether there is one. Raises: zmtp.Malformed."""
        if self.message is None:
            self.message = self._decoder.next()
        return self.message is not None

    def answer(self, now_s: float) -> bool:
        """Queue the answers to ZMTP commands; return whether there were any."""
        answers, self._decoder.answers = self._decoder.answers, []
        self.queue(answers, now_s)
        return bool(answers)

    def take(self) -> list[bytes]:
        message, self.message = self.message, None
        assert message is not None
        self.unanswered += 1
        self.began_s = self.read_s  # the next message, which came with it
        return message

    def queue(self, pieces: list[bytes], now_s: float) -> None:
        if not self.out_bytes:
            self.moved_s = now_s
        self._out += map(memoryview, pieces)
        self.out_bytes += sum(map(len, pieces))

    def write(self, now_s: float) -> bool:
        """Write what the client takes now; return False when it is gone."""
        while self._out:
            try:
                sent = self._socket.sendmsg([self._out[place] for place in range(min(_PIECES, len(self._out)))])
            except BlockingIOError:
                return True
            except OSError:
                return False
            self.moved_s = now_s
            self._drop_sent(sent)
        return True

    def _drop_sent(self, sent: int) -> None:
        self.out_bytes -= sent
        while self._out and sent >= len(self._out[0]):
            sent -= len(self._out.popleft())
        if sent:
            self._out[0] = self._out[0][sent:]

    def close(self) -> None:
        self.is_open = False
        self._out.clear()
        self.message = None
        self.out_bytes = 0
        with contextlib.suppress(OSError):
            self._socket.close()
