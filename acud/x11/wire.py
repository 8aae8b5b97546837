"""python-xlib's protocol side for one thread, and requests that are packed once.

python-xlib calls `select` before each read and write, and handles threads that wait for one another. A capture process
has one thread: here queued requests leave in one write, and a reply is one read away (`scripts/bench capture`). Parsing
and bookkeeping are python-xlib's: serial numbers, `sent_requests`, `event_queue`, its classes of events and errors.
"""

from __future__ import annotations

import socket
import struct
from typing import Any

import Xlib.display
from Xlib import error
from Xlib.ext import ge
from Xlib.protocol import event, rq

_SETUP = -1  # the request number that python-xlib waits for while it opens the connection
_READ_BYTES = 1 << 16
_ERROR, _REPLY = 0, 1
_PACKET_BYTES = 32
"""Of an event, of an error, and of a reply before its additional data, whose length in words stands at its byte 4."""
_SERIAL = struct.Struct("=2xH")
_MORE_WORDS = struct.Struct("=I")


class Wire(Xlib.display._BaseDisplay):
    """One connection's requests, replies, errors and events. Not for several threads at once.

    A write blocks while the server does not read; the server never waits for a client to read (Xserver, os/io.c).
    python-xlib keeps opcodes, event and error classes per process; here each connection has its own, since two servers
    may number them differently.
    """

    data_recv: bytearray
    """The received part of an incomplete packet."""
    request_serial: int

    def __init__(self, name: str) -> None:
        self.extension_major_opcodes: dict[str, int] = {}
        self.event_classes = event.event_class.copy()
        self.error_classes = error.xerror_class.copy()
        super().__init__(name)
        self.data_recv = bytearray(self.data_recv)

    def add_extension_error(self, code: int, err: type[Exception]) -> None:
        """Take only classes that can hold an error, in an extension's range. python-xlib's RANDR puts bare exceptions
        on 0, 1 and 2: parsing a BadValue (2) then raises AttributeError.
        """
        if issubclass(err, error.XError) and code not in error.xerror_class:
            super().add_extension_error(code, err)

    def send_and_recv(
        self, flush: bool = False, event: bool = False, request: int | None = None, recv: bool = False
    ) -> None:
        """Send the queue, then read once (`flush`: not at all; `recv`: without waiting); python-xlib's loops repeat
        until they have what they need. Raises: Xlib's ConnectionClosedError.
        """
        if request == _SETUP:
            super().send_and_recv(request=request)
            return
        self.send_recv_lock.release()  # the caller holds it
        self.send_queued()
        if not flush:
            self.receive(wait=not recv)

    def send_request(self, request: Any, wait_for_response: bool) -> None:
        """Queue `request` and number it. Raises: Xlib's ConnectionClosedError."""
        if self.socket_error:
            raise self.socket_error
        request._serial = serial = self.request_serial
        self.request_serial = (serial + 1) % 65536
        self.request_queue.append((request, wait_for_response))

    def send_queued(self) -> None:
        """Write all queued requests in one system call. Raises: Xlib's ConnectionClosedError."""
        queue = self.request_queue
        if not queue:
            return
        binary = b"".join([request._binary for request, _ in queue])
        self.sent_requests += [request for request, waits in queue if waits]
        queue.clear()
        try:
            self.socket.sendall(binary)
        except OSError as fault:
            self._close_and_raise(f"server: {fault}")

    def receive(self, *, wait: bool) -> None:
        """Read once, and hand on each complete packet; without `wait` only from what has arrived. Raises: Xlib's
        ConnectionClosedError.
        """
        try:
            arrived = self.socket.recv(_READ_BYTES, 0 if wait else socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError as fault:
            self._close_and_raise(f"server: {fault}")
        if not arrived:
            self._close_and_raise("server")
        held = self.data_recv
        if held:
            held += arrived
            del held[: self._hand_on(held)]
        else:
            held += arrived[self._hand_on(arrived) :]

    def _close_and_raise(self, cause: str) -> None:
        self.close_internal(cause)
        raise self.socket_error

    def _hand_on(self, data: bytes | bytearray) -> int:
        """Hand on each whole packet in `data`; return how many bytes they were."""
        at, size = 0, len(data)
        while size - at >= _PACKET_BYTES:
            kind, length = data[at] & 0x7F, _PACKET_BYTES  # an event's highest bit: another client sent it
            if kind in {_REPLY, ge.GenericEventCode}:
                length += 4 * _MORE_WORDS.unpack_from(data, at + 4)[0]
                if size - at < length:
                    break
            packet = bytes(data[at : at + length])
            at += length
            if kind == _REPLY:
                self._take_reply(packet)
            elif kind == _ERROR:
                self._take_error(packet)
            else:
                self._take_event(kind, packet)
        return at

    def _take_reply(self, packet: bytes) -> None:
        request = self.get_waiting_replyrequest()
        (serial,) = _SERIAL.unpack_from(packet)
        if serial != request._serial:
            raise RuntimeError(f"a reply to request {serial} came instead of one to {request._serial}")
        request._parse_response(packet)

    def _take_error(self, packet: bytes) -> None:
        fault = self.error_classes.get(packet[1], error.XError)(self, packet)
        request = self.get_waiting_request(fault.sequence_number)
        if request is not None and request._set_error(fault):
            return
        if self.error_handler:
            rq.call_error_handler(self.error_handler, fault, None)
        else:
            self.default_error_handler(fault)

    def _take_event(self, code: int, packet: bytes) -> None:
        kind = self.event_classes.get(code, event.AnyEvent)
        if isinstance(kind, dict):
            kind = kind[packet[1]]
        told = kind(display=self, binarydata=packet)
        # Requests with an error handler before the one that made this event had no error. KeymapNotify has no number.
        if self.sent_requests and hasattr(told, "sequence_number"):
            self.get_waiting_request((told.sequence_number - 1) % 65536)
        self.event_queue.append(told)


class PackedRequest(rq.Request):
    """A request without a reply, packed once: python-xlib packs field by field, 10 µs a request. Requests of every grab
    are written this way (`scripts/bench capture`). `send` queues it as often as wanted. `on_error`: as `onerror`.
    """

    def __init__(self, wire: Wire, binary: bytes, on_error: Any = None) -> None:
        self._wire, self._binary = wire, binary
        self._errorhandler = on_error
        self._serial = None

    def send(self) -> None:
        """Queue the request; it travels with the next request that waits, or flush."""
        self._wire.send_request(self, self._errorhandler is not None)


class PackedQuery:
    """A request sent once, queued at once; the reply is unpacked with `shape`, from its start.

    python-xlib knows a request with a reply by `_reply`.
    """

    _reply = None

    def __init__(self, wire: Wire, binary: bytes, shape: struct.Struct) -> None:
        self._wire, self._binary, self._shape = wire, binary, shape
        self._serial = None
        self._values: tuple[Any, ...] | None = None
        self._error: Exception | None = None
        wire.send_request(self, True)

    def answer(self) -> tuple[Any, ...]:
        """Return the reply's values, waiting for it. Raises: Xlib's errors."""
        while self._values is None:
            if self._error is not None:
                raise self._error
            self._wire.send_queued()
            self._wire.receive(wait=True)
        return self._values

    def _parse_response(self, packet: bytes) -> None:
        self._values = self._shape.unpack_from(packet)

    def _set_error(self, fault: Exception) -> bool:
        self._error = fault
        return True
