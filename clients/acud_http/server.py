"""uvicorn around one application: bounded, quiet, ended by its owner; connections limited in all and by address.

uvicorn itself ends only a connection that is idle after an answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Protocol, Self, cast

import h11
import uvicorn
from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from acud.config.http_listeners import ListenerSettings, WebSettings, bind, url_of
from acud_http.request_filter import Surface


class Guest(Protocol):
    """A connection. `is_idle`: no request of it is under way."""

    @property
    def is_idle(self) -> bool:
        """Whether the connection can be ended without loss."""

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
        near = [one for one, its in self._guests.items() if its == address]
        ok = self._room_among(near, self._most_each) and self._room_among(list(self._guests), self._most)
        if ok:
            self._guests[guest] = address
        else:
            self.refused += 1
        return ok

    def leave(self, guest: Guest) -> None:
        """Forget `guest`; harmless for an unknown guest."""
        self._guests.pop(guest, None)

    def hand_over(self, before: Guest, after: Guest) -> None:
        if before in self._guests:
            self._guests[after] = self._guests.pop(before)

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


class _Place(asyncio.Protocol):
    """A connection's place among the connections, which it loses when it does not read."""

    connection_limit: ConnectionLimit | None = None
    patience = Patience()
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    _reading: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no request of the connection is under way."""
        raise NotImplementedError

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
        self._read_again()
        if self.connection_limit is not None:
            self.connection_limit.leave(self)
        super().connection_lost(exc)

    def make_room(self) -> None:
        """Give up the place, as another connection needs it."""
        self.transport.abort()

    def _read_again(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None


class PatientConnection(_Place, H11Protocol):
    """uvicorn's own protocol, with one length a request, a limit for heads, one for readers, and one of connections."""

    _surplus = 0
    _limit: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no request of the connection is under way."""
        # Its base says so of an attribute that is None until the first request.
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.conn = _OneLength(h11.SERVER)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in its base
        """Take a place, or be closed at once where there is none; begin to wait for the first head."""
        super().connection_made(transport)
        if self.connection_limit is not None and not self.connection_limit.enter(self, self._address):
            transport.abort()
            return
        self._set_limit()

    def data_received(self, data: bytes) -> None:
        """Take what came, and wait on while it is less than a head."""
        super().data_received(data)
        self._count_surplus(len(data))
        if self.transport.get_protocol() is not self:
            self._cancel_limit()  # a WebSocket now
        elif self.is_idle:
            self._set_limit()
        else:
            self._cancel_limit()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_limit()
        super().connection_lost(exc)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; what it has not read by then is dropped."""
        super().timeout_keep_alive_handler()
        self._close_late()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Hand over to the WebSocket, which keeps the place."""
        super().handle_websocket_upgrade(event)
        if self.connection_limit is not None:
            self.connection_limit.hand_over(self, cast(PatientSocket, self.transport.get_protocol()))

    @property
    def _address(self) -> str:
        return self.client[0] if self.client is not None else ""

    def _count_surplus(self, size: int) -> None:
        """Cut who goes on sending the body of a request that is answered. A little of it is read: closing over unread
        bytes resets the connection, and the answer may be lost (tcp(7)).
        """
        self._surplus = self._surplus + size if self.is_idle and self.conn.their_state is h11.SEND_BODY else 0
        if self._surplus > _SURPLUS_BYTES:
            self.transport.abort()

    def _set_limit(self) -> None:
        if self._limit is None:
            self._limit = self.loop.call_later(self.patience.head_s, self._close_late)

    def _cancel_limit(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _close_late(self) -> None:
        self._limit = None
        self.transport.close()
        if self.transport.get_write_buffer_size():
            # close() alone waits for a reader for ever
            self.loop.call_later(self.patience.read_s, self.transport.abort)


class PatientSocket(_Place, WebSocketsSansIOProtocol):
    """uvicorn's own WebSocket, with a limit for readers, and a place among the connections."""

    @property
    def is_idle(self) -> bool:
        return False


_GRACE_S = 1
"""What answers under way may take at the end: the supervisor kills its children after three seconds."""
_KEEP_ALIVE_S = 30
_MESSAGE_BYTES = 64 * 1024
"""The longest message of a WebSocket's client; they are acknowledgements and wishes."""
_PING_S = 20.0
_HANDSHAKE_S = 10.0
_PATIENCE = Patience()


CONNECTIONS = 400
"""Connections and answers at once, unless settings say otherwise; more get 503. A process may open 1,024 files."""


class Server:
    """Serves `app` on `listening`, which it borrows; to be run once. `websockets`: whether the application takes any.
    `certificate`: the paths of certificate and key; ("", "") for plain HTTP. `most`: connections and answers at once.
    `lifespan`: whether the application is to be told of start and end. `dated`: whether answers have a Date.
    """

    def __init__(
        self,
        app: ASGIApp,
        listening: socket.socket,
        most: int = CONNECTIONS,
        connection_limit: ConnectionLimit | None = None,
        patience: Patience = _PATIENCE,
        *,
        websockets: bool = False,
        certificate: tuple[str, str] = ("", ""),
        lifespan: bool = False,
        dated: bool = False,
    ) -> None:
        self._socket = listening
        cert, key = certificate
        given = {"connection_limit": connection_limit, "patience": patience}
        config = uvicorn.Config(
            _taking_turns(app),
            log_config=None,
            log_level="error",
            access_log=False,  # paths may hold what clients look for
            server_header=False,
            date_header=dated,
            proxy_headers=False,
            http=type("Connection", (PatientConnection,), given),
            ws=type("Socket", (PatientSocket,), given) if websockets else "none",
            ws_max_size=_MESSAGE_BYTES,
            ws_per_message_deflate=False,  # pictures are packed already
            ws_ping_interval=_PING_S,
            ws_ping_timeout=_PING_S,
            lifespan="on" if lifespan else "off",
            limit_concurrency=most,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=_GRACE_S,
            ssl_certfile=cert or None,
            ssl_keyfile=key or None,
        )
        self._server = _Server(config)
        _log_with_ours()

    async def run(self) -> None:
        await self._server.serve(sockets=[self._socket])

    def stop(self) -> None:
        """End in good order: no new connections, answers under way finished."""
        self._server.should_exit = True


def _taking_turns(app: ASGIApp) -> ASGIApp:
    """Return `app` that lets others run after each part of an answer.

    uvicorn's `send` suspends only while buffers are full: an answer that is always ready would keep the loop to itself,
    and never learn that its client was cut.
    """

    async def serving(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            await send(message)
            if message.get("more_body"):
                await asyncio.sleep(0)

        await app(scope, receive, sending)

    return serving


def _log_with_ours() -> None:
    """Have uvicorn's own faults (a traceback of the application) written as acud's log is."""
    theirs = logging.getLogger("uvicorn")
    theirs.handlers, theirs.propagate = logging.getLogger("acud").handlers, False


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept on `sockets`; as its base does, which leaves a client a minute for TLS."""
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            self.should_exit = True
            return
        config, loop = self.config, asyncio.get_running_loop()
        patience_s = _HANDSHAKE_S if config.ssl is not None else None
        self.servers = [
            await loop.create_server(
                self._make_connection,
                sock=one,
                ssl=config.ssl,
                backlog=config.backlog,
                ssl_handshake_timeout=patience_s,
                ssl_shutdown_timeout=patience_s,
            )
            for one in sockets or []
        ]
        self.started = True

    def _make_connection(self) -> asyncio.Protocol:
        made: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = made(self.config, self.server_state, self.lifespan.state)
        return protocol

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to the owner of the process."""
        yield


class Listener:
    """A listening socket, which it owns, and what it is for. `settings` are checked ones. `fd`: a listening socket that
    was inherited; -1: one is bound. `certificate`: the paths of certificate and key; ("", "") for plain HTTP. `token`:
    what every request needs ("": none), and `token_file` where it lies ("": in the settings).
    Raises: Refused when host and port can't be bound.
    """

    def __init__(
        self,
        surface: Surface,
        settings: ListenerSettings | WebSettings,
        fd: int = -1,
        *,
        token: str = "",
        token_file: str = "",
        certificate: tuple[str, str] = ("", ""),
    ) -> None:
        self.surface, self.settings = surface, settings
        self.token, self.token_file, self.certificate = token, token_file, certificate
        table = surface.table
        self.socket = socket.socket(fileno=os.dup(fd)) if fd >= 0 else bind(settings.host, settings.port, table)
        self.port: int = self.socket.getsockname()[1]

    @property
    def url(self) -> str:
        """Return the address for clients."""
        return url_of(self.settings.host, self.port, tls=bool(self.certificate[0]))

    @property
    def credentials(self) -> str:
        """Return in words how clients of the HTTP endpoints get in."""
        return f"token in {self.token_file or 'the settings'}" if self.token else "no token asked for"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()


async def run_in_foreground(run: Callable[[], Awaitable[None]], stop: Callable[[], None], words: str) -> None:
    """Serve until SIGINT or SIGTERM; `words` says where, once it listens and a signal would end it."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    sys.stderr.write(words + "\n")
    sys.stderr.flush()
    await run()
