"""uvicorn around one application: bounded, quiet, and ended by whoever owns it, not by its own signal handlers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Generator
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from acud_web.connections import ConnectionLimit, Patience, PatientConnection, PatientSocket

_GRACE_S = 1
"""What answers under way may take at the end: the supervisor kills its children after three seconds."""
_KEEP_ALIVE_S = 30
_MESSAGE_BYTES = 64 * 1024
"""The longest message of a WebSocket's client; they are acknowledgements and wishes."""
_PING_S = 20.0
_HANDSHAKE_S = 10.0
_PATIENCE = Patience()


class Server:
    """Serves `app` on `listening`, which it borrows; to be run once. `websockets`: whether the application takes any.
    `certificate`: the paths of certificate and key; ("", "") for plain HTTP. `most`: connections and answers at once.
    """

    def __init__(
        self,
        app: ASGIApp,
        listening: socket.socket,
        most: int,
        crowd: ConnectionLimit | None = None,
        patience: Patience = _PATIENCE,
        *,
        websockets: bool = False,
        certificate: tuple[str, str] = ("", ""),
    ) -> None:
        self._socket = listening
        cert, key = certificate
        given = {"crowd": crowd, "patience": patience}
        config = uvicorn.Config(
            _taking_turns(app),
            log_config=None,
            log_level="error",
            access_log=False,  # paths may hold what clients look for
            server_header=False,
            date_header=False,
            proxy_headers=False,
            http=type("Connection", (PatientConnection,), given),
            ws=type("Socket", (PatientSocket,), given) if websockets else "none",
            ws_max_size=_MESSAGE_BYTES,
            ws_per_message_deflate=False,  # pictures are packed already
            ws_ping_interval=_PING_S,
            ws_ping_timeout=_PING_S,
            lifespan="off",
            limit_concurrency=most,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=_GRACE_S,
            ssl_certfile=cert or None,
            ssl_keyfile=key or None,
        )
        self._server = _Server(config)
        _log_with_ours()

    async def run(self) -> None:
        """Serve until `stop`."""
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
        config, loop = self.config, asyncio.get_running_loop()
        patience_s = _HANDSHAKE_S if config.ssl is not None else None
        self.servers = [
            await loop.create_server(
                self._connection,
                sock=one,
                ssl=config.ssl,
                backlog=config.backlog,
                ssl_handshake_timeout=patience_s,
                ssl_shutdown_timeout=patience_s,
            )
            for one in sockets or []
        ]
        self.started = True

    def _connection(self) -> asyncio.Protocol:
        made: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = made(self.config, self.server_state, self.lifespan.state)
        return protocol

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to the owner of the process."""
        yield
