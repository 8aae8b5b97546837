"""ZMTP 3.0 with the mechanism NULL (rfc.zeromq.org/spec/23), as far as a server on a Unix socket needs it. Pure.

libzmq limits neither the parts of a message nor its memory for subscriptions, and does not report which peers are gone;
so the daemon parses its clients' bytes itself. Clients are plain libzmq sockets.
"""

from __future__ import annotations

from msgspec import Struct

_GREETING_BYTES = 64
_MORE, _LONG, _COMMAND = 1, 2, 4
_SHORT_MOST = 255
_READY = b"\x05READY"
_PING, _PONG = b"\x04PING", b"\x04PONG"
_CONTEXT_AT = len(_PING) + 2
"""Behind a PING and its time to live: what its PONG repeats (rfc.zeromq.org/spec/37)."""
_SIGNATURE = b"\xff\0\0\0\0\0\0\0\x01\x7f"
_CONTEXT_MOST = 16
_HEAD_BYTES = {0: 2, _LONG: 9}
GREETING = (_SIGNATURE + b"\x03\0" + b"NULL").ljust(_GREETING_BYTES, b"\0")
"""The first bytes of either side. Ours announce 3.0: a newer peer then writes subscriptions as messages."""


class Malformed(Exception):
    """The bytes are not ZMTP 3, or beyond the bounds."""


class Bounds(Struct, frozen=True):
    """Limits of one message: its bytes over all parts, and its parts."""

    message_bytes: int
    parts: int


class Decoder:
    """Takes bytes as they come, and gives whole messages one by one.

    `peer`: the peer's socket type ("" until it sent it). `answers`: bytes to write for commands that came, such as the
    PONG for a PING of a client with ZMQ_HEARTBEAT_IVL; the writer empties the list.
    """

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._data = bytearray()
        self._parts: list[bytes] = []
        self._size = 0
        self._greeted = False
        self.peer = ""
        self.answers: list[bytes] = []

    @property
    def held_bytes(self) -> int:
        """Return how many received bytes are not taken yet."""
        return len(self._data) + self._size

    def feed(self, data: bytes) -> None:
        self._data += data

    def next(self) -> list[bytes] | None:
        """Return the next whole message, or None if it is not there yet. Raises: Malformed; after it, nothing can be
        read from this peer.
        """
        if not self._greeted and not self._read_greeting():
            return None
        at = 0
        message = None
        while message is None and (found := self._find_frame(at)) is not None:
            flags, start, at = found
            body = bytes(self._data[start:at])
            if flags & _COMMAND:
                self._handle_command(body)
            elif not self.peer:
                raise Malformed("a message before the handshake's end")
            else:
                message = self._take_part(flags, body)
        del self._data[:at]
        return message

    def _read_greeting(self) -> bool:
        head = self._data[:_GREETING_BYTES]
        if (head and head[0] != _SIGNATURE[0]) or (len(head) > 10 and (not head[9] & 1 or head[10] < 3)):
            raise Malformed("not a ZMTP 3 greeting")
        if len(head) < _GREETING_BYTES:
            return False
        if head[12:32].rstrip(b"\0") != b"NULL":
            raise Malformed("another mechanism than NULL")
        del self._data[:_GREETING_BYTES]
        self._greeted = True
        return True

    def _find_frame(self, at: int) -> tuple[int, int, int] | None:
        """Return the flags, begin and end of the whole frame at `at`; None if it is not there yet."""
        data = self._data
        if len(data) <= at:
            return None
        flags = data[at]
        if flags & ~(_MORE | _LONG | _COMMAND):
            raise Malformed("a frame with unknown flags")
        start = at + _HEAD_BYTES[flags & _LONG]
        if len(data) < start:
            return None
        size = int.from_bytes(data[at + 1 : start], "big")
        if self._size + size > self._bounds.message_bytes:
            raise Malformed(f"a message of {self._size + size} bytes, {self._bounds.message_bytes} at most")
        return (flags, start, start + size) if len(data) >= start + size else None

    def _take_part(self, flags: int, body: bytes) -> list[bytes] | None:
        self._parts.append(body)
        self._size += len(body)
        if len(self._parts) > self._bounds.parts:
            raise Malformed(f"a message of more than {self._bounds.parts} parts")
        if flags & _MORE:
            return None
        message, self._parts, self._size = self._parts, [], 0
        return message

    def _handle_command(self, body: bytes) -> None:
        if not self.peer:
            if not body.startswith(_READY):
                raise Malformed("no READY after the greeting")
            self.peer = _read_socket_type(body[len(_READY) :])
        elif body.startswith(_PING):
            self.answers.append(_encode_command(_PONG + body[_CONTEXT_AT : _CONTEXT_AT + _CONTEXT_MOST]))


def ready(socket_type: str) -> bytes:
    """Return the command that ends our part of the handshake."""
    body = _READY + _encode_property(b"Socket-Type", socket_type.encode()) + _encode_property(b"Identity", b"")
    return _encode_command(body)


def _encode_command(body: bytes) -> bytes:
    return bytes([_COMMAND, len(body)]) + body


def frame_message(parts: list[bytes]) -> list[bytes]:
    """Return the bytes of a message in pieces: a large part is not copied."""
    pieces = []
    for place, part in enumerate(parts):
        more = _MORE if place < len(parts) - 1 else 0
        long = len(part) > _SHORT_MOST
        head = bytes([more | _LONG]) + len(part).to_bytes(8, "big") if long else bytes([more, len(part)])
        pieces += [head, part]
    return pieces


def _encode_property(name: bytes, value: bytes) -> bytes:
    return bytes([len(name)]) + name + len(value).to_bytes(4, "big") + value


def _read_socket_type(properties: bytes) -> str:
    at = 0
    while at < len(properties):
        name_end = at + 1 + properties[at]
        value_at = name_end + 4
        value_end = value_at + int.from_bytes(properties[name_end:value_at], "big")
        if value_end > len(properties) or value_at > len(properties):
            break
        if properties[at + 1 : name_end].lower() == b"socket-type":
            return properties[value_at:value_end].decode("ascii", "replace")
        at = value_end
    raise Malformed("no socket type in the handshake")
