"""Connections: bounded in all and by address, ended when idle; uvicorn ends only one that is idle after an answer."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol, cast

import h11
from msgspec import Struct
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class Guest(Protocol):
    """A connection. `is_idle`: no request of it is under way."""

    @property
    def is_idle(self) -> bool:
        """Whether it can be ended without loss."""

    def make_room(self) -> None:
        """End; `ConnectionLimit.leave` follows."""


class ConnectionLimit:
    """At most `most` connections, and `most_each` from one address. Rules only."""

    def __init__(self, most: int, most_each: int) -> None:
        self._most = most
        self._most_each = most_each
        self._guests: dict[Guest, str] = {}
        """With their addresses, in the order they came."""
        self.refused = 0

    def __len__(self) -> int:
        return len(self._guests)

    def enter(self, guest: Guest, address: str) -> bool:
        """Take `guest` in, at an idle one's cost where need be; False when every other is busy."""
        ok = self._room_among(self._of(address), self._most_each) and self._room_among(list(self._guests), self._most)
        if ok:
            self._guests[guest] = address
        else:
            self.refused += 1
        return ok

    def leave(self, guest: Guest) -> None:
        """Forget `guest`; harmless when it is not here."""
        self._guests.pop(guest, None)

    def hand_over(self, before: Guest, after: Guest) -> None:
        """Give the place of `before` to `after`."""
        if before in self._guests:
            self._guests[after] = self._guests.pop(before)

    def _of(self, address: str) -> list[Guest]:
        return [guest for guest, its in self._guests.items() if its == address]

    def _room_among(self, guests: list[Guest], most: int) -> bool:
        if len(guests) < most:
            return True
        idle = next((guest for guest in guests if guest.is_idle), None)
        if idle is None:
            return False
        self.leave(idle)
        idle.make_room()
        return True


_SURPLUS_BYTES = 16 * 1024 * 1024


class Patience(Struct, frozen=True):
    """`head_s`: from the connection, or the first byte after an answer, to the end of the request's head. `read_s`: a
    client that takes less than the buffers hold in so long does not read.
    """

    head_s: float = 10.0
    read_s: float = 20.0


class _OneLength(h11.Connection):
    """Knows one length of each request, or none: where a head gives two, a proxy may believe the other one, and take
    what we read as the rest of the body for the next request, or the other way round (RFC 9112, 6.1 and 11.2).
    """

    def next_event(self) -> Any:
        """Raises: RemoteProtocolError also for a request with both lengths, or chunked in HTTP/1.0."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name.lower() for name, _ in event.headers}
            has_old_version = event.http_version < b"1.1"
            if b"transfer-encoding" in names and (b"content-length" in names or has_old_version):
                raise h11.RemoteProtocolError("a request with Transfer-Encoding and another length")
        return event


class PatientConnection(H11Protocol):
    """uvicorn's own protocol, with one length a request, a limit for heads, one for readers, and a place in a crowd."""

    crowd: ConnectionLimit | None = None
    patience = Patience()
    _surplus = 0
    _limit: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no request of it is under way."""
        # Its base says so of an attribute that is None until the first request.
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]

    def __init__(self, *given: Any, **named: Any) -> None:
        """As its base."""
        super().__init__(*given, **named)
        self.conn = _OneLength(h11.SERVER)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in its base
        """Take a place, or be closed at once where there is none; begin to wait for the first head."""
        super().connection_made(transport)
        if self.crowd is not None and not self.crowd.enter(self, self._address):
            transport.abort()
            return
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take what came, and wait on while it is less than a head."""
        super().data_received(data)
        self._count_surplus(len(data))
        if self.transport.get_protocol() is not self:
            self._rest()  # a WebSocket now
        elif self.is_idle:
            self._expect()
        else:
            self._rest()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._rest()
        self._read_again()
        if self.crowd is not None:
            self.crowd.leave(self)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begin to wait for a client that does not read."""
        self.flow.pause_writing()
        if self._reading is None:
            self._reading = self.loop.call_later(self.patience.read_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: it reads."""
        self._read_again()
        self.flow.resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; what it has not read by then is dropped."""
        super().timeout_keep_alive_handler()
        self._end()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Hand over to the WebSocket, which keeps the place."""
        super().handle_websocket_upgrade(event)
        if self.crowd is not None:
            self.crowd.hand_over(self, cast(PatientSocket, self.transport.get_protocol()))

    @property
    def _address(self) -> str:
        return self.client[0] if self.client is not None else ""

    def make_room(self) -> None:
        """Give up the place: somebody else needs it."""
        self.transport.abort()

    def _count_surplus(self, size: int) -> None:
        """Cut who goes on sending the body of a request that is answered. A little of it is read: closing over unread
        bytes resets the connection, and the answer may be lost (tcp(7)).
        """
        self._surplus = self._surplus + size if self.is_idle and self.conn.their_state is h11.SEND_BODY else 0
        if self._surplus > _SURPLUS_BYTES:
            self.transport.abort()

    def _expect(self) -> None:
        if self._limit is None:
            self._limit = self.loop.call_later(self.patience.head_s, self._end)

    def _rest(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _read_again(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _end(self) -> None:
        self._limit = None
        self.transport.close()
        if self.transport.get_write_buffer_size():
            self.loop.call_later(
                self.patience.read_s, self.transport.abort
            )  # close() alone waits for a reader for ever


class PatientSocket(WebSocketsSansIOProtocol):
    """uvicorn's own WebSocket, with a limit for readers, and a place in a crowd."""

    crowd: ConnectionLimit | None = None
    patience = Patience()
    is_idle = False
    _reading: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """Begin to wait for a client that does not read."""
        super().pause_writing()
        if self._reading is None:
            self._reading = self.loop.call_later(self.patience.read_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: it reads."""
        self._read_again()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._read_again()
        if self.crowd is not None:
            self.crowd.leave(self)
        super().connection_lost(exc)

    def make_room(self) -> None:
        """Give up the place."""
        self.transport.abort()

    def _read_again(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
