"""HTTP/1.1 without TLS, under httpx: a connection for each call at once, kept for the next one.

A model on this machine is asked by many waits at the same moment. httpcore's pool, its locks and its looks at idle
sockets cost twice of what everything else of such a call does (docs/benchmarks.md). The protocol is h11's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import NamedTuple

import h11
import httpx

_READ_BYTES = 1 << 16
_MAX_HEAD_BYTES = 100 << 10  # as httpcore has it: h11's own 16 KiB are less than the headers of some servers
_STAGGER_S = 0.25  # after so long a connection to the next address of a name is begun as well (RFC 8305, section 8)


class _Connection(NamedTuple):
    """A connection, and where its protocol stands."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    protocol: h11.Connection

    @property
    def is_usable(self) -> bool:
        """Whether the connection can carry the next request, as far as this side knows."""
        return not (self.reader.at_eof() or self.writer.is_closing())

    async def next_event(self) -> h11.Event:
        """Return the next event of the response. Raises: httpx.ReadError, httpx.RemoteProtocolError."""
        try:
            while (event := self.protocol.next_event()) is h11.NEED_DATA:
                data = await self.reader.read(_READ_BYTES)
                if not data and self.protocol.their_state is h11.SEND_RESPONSE:
                    raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
                self.protocol.receive_data(data)
        except h11.RemoteProtocolError as fault:
            raise httpx.RemoteProtocolError(str(fault)) from fault
        except OSError as fault:
            raise httpx.ReadError(str(fault)) from fault
        if not isinstance(event, h11.InformationalResponse | h11.Response | h11.Data | h11.EndOfMessage):
            raise httpx.RemoteProtocolError(f"unexpected {event!r}")
        return event


class _Idle(NamedTuple):
    """A connection that waits for its next call, and since when."""

    connection: _Connection
    since_s: float


class PlainTransport(httpx.AsyncBaseTransport):
    """Connections to the server of one `http:` url. `most_idle` of them are kept, for `kept_s` at the most.

    Faults are httpx's own. Not for proxies: it connects to what the url names.
    """

    def __init__(self, *, most_idle: int, kept_s: float) -> None:
        self._most_idle, self._kept_s = most_idle, kept_s
        self._idle: list[_Idle] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request; return the response once its head is there. Its stream must be closed. A call that ends
        early, by a fault or by cancellation, ends its connection.
        """
        connection = self._take_idle() or await self._open_connection(request)
        try:
            await self._send_request(connection, request)
            head = await self._read_head(connection)
        except BaseException:
            connection.writer.close()
            raise
        body = _Body(self, connection)
        return httpx.Response(head.status_code, headers=head.headers.raw_items(), stream=body)

    async def aclose(self) -> None:
        """Close the connections that wait; those at work close themselves, for nothing is kept any more."""
        self._most_idle = 0
        for idle in self._idle:
            idle.connection.writer.close()
        self._idle.clear()

    def _take_idle(self) -> _Connection | None:
        """Return the connection that was used last, if it is still good."""
        oldest_s = time.monotonic() - self._kept_s
        while self._idle:
            idle = self._idle.pop()
            if idle.connection.is_usable and idle.since_s >= oldest_s:
                return idle.connection
            idle.connection.writer.close()
        return None

    def release(self, connection: _Connection) -> None:
        """Keep a connection after its response was read to the end, if there is room; else close it."""
        done = connection.protocol.our_state is h11.DONE and connection.protocol.their_state is h11.DONE
        if not done or not connection.is_usable or len(self._idle) >= self._most_idle:
            connection.writer.close()
            return
        connection.protocol.start_next_cycle()
        self._idle.append(_Idle(connection, time.monotonic()))

    async def _open_connection(self, request: httpx.Request) -> _Connection:
        limit_s = request.extensions.get("timeout", {}).get("connect")
        url = request.url
        try:
            async with asyncio.timeout(limit_s):
                reader, writer = await asyncio.open_connection(
                    url.host, url.port or 80, limit=_READ_BYTES, happy_eyeballs_delay=_STAGGER_S
                )
        except TimeoutError as fault:
            raise httpx.ConnectTimeout(f"no connection within {limit_s:g} s", request=request) from fault
        except OSError as fault:
            raise httpx.ConnectError(str(fault), request=request) from fault
        return _Connection(reader, writer, h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD_BYTES))

    async def _send_request(self, connection: _Connection, request: httpx.Request) -> None:
        assert isinstance(request.stream, httpx.AsyncByteStream)
        send = connection.protocol.send_with_data_passthrough
        try:
            head = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
            parts = send(head) or []
            async for chunk in request.stream:
                parts += send(h11.Data(data=chunk)) or []
            parts += send(h11.EndOfMessage()) or []
        except h11.LocalProtocolError as fault:
            raise httpx.LocalProtocolError(str(fault), request=request) from fault
        try:
            connection.writer.writelines(parts)  # one write: the server is woken once
            await connection.writer.drain()
        except OSError:
            return  # a server may answer before it has read all, and close: the answer gives the reason

    async def _read_head(self, connection: _Connection) -> h11.Response:
        while not isinstance(event := await connection.next_event(), h11.Response):
            continue  # 1xx: the answer is still to come
        return event


class _Body(httpx.AsyncByteStream):
    """The body of a response; its connection goes back, or ends, when it is closed."""

    def __init__(self, transport: PlainTransport, connection: _Connection) -> None:
        self._transport = transport
        self._connection: _Connection | None = connection

    async def __aiter__(self) -> AsyncIterator[bytes]:
        connection = self._connection
        while connection is not None and isinstance(event := await connection.next_event(), h11.Data):
            yield bytes(event.data)

    async def aclose(self) -> None:
        """Give the connection back; closing twice is harmless."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._transport.release(connection)
