"""Requests whose bytes never change, packed once: python-xlib packs and unpacks field by field, 10 µs a request.

What goes with every grab is written this way (`scripts/bench capture`).
"""

from __future__ import annotations

import struct
import sys
from typing import Any

from Xlib.protocol import rq
from Xlib.support import lock


class PackedRequest(rq.Request):
    """A request without a reply; `send` queues it as often as wanted. `on_error`: as python-xlib's `onerror`."""

    def __init__(self, wire: Any, binary: bytes, on_error: Any = None) -> None:
        self._wire = wire
        self._binary = binary
        self._errorhandler = on_error
        self._serial = None

    def send(self) -> None:
        """Queue it; it travels with the next request that waits, or flush."""
        self._wire.send_request(self, self._errorhandler is not None)


class PackedQuery(rq.ReplyRequest):
    """A request asked once, at once queued; the reply is unpacked with `shape`, from its start.

    python-xlib knows a request with a reply by `_reply`, and looks for the sequence number in what was parsed.
    """

    _reply = None

    def __init__(self, wire: Any, binary: bytes, shape: struct.Struct) -> None:
        self._display = wire
        self._binary = binary
        self._shape = shape
        self._serial = None
        self._data: dict[str, Any] | None = None
        self._error = None
        self._response_lock = lock.allocate_lock()
        wire.send_request(self, True)

    def answer(self) -> tuple[Any, ...]:
        """Return the reply's values, waiting for it. Raises: Xlib's errors."""
        self.reply()
        values: tuple[Any, ...] = self.values
        return values

    def _parse_response(self, data: bytes) -> None:
        number = int.from_bytes(data[2:4], sys.byteorder)
        self._data = {"sequence_number": number, "values": self._shape.unpack_from(data)}
