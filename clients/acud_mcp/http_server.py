"""The server as streamable HTTP on loopback, for hosts that take a URL: its listener, its token, its guard."""

from __future__ import annotations

import hmac
import re
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import uvicorn

from acud.errors import Refused
from acud.paths import Paths
from acud_client.token import kept_token
from acud_mcp.daemon import Starter
from acud_mcp.options import Options
from acud_mcp.server import build

HOST = "127.0.0.1"
PATH = "/mcp"
_GRACE_S = 2
_BACKLOG = 2048  # uvicorn's own


def serve(options: Options, starter: Starter | None, port: int) -> None:
    """Serve until a signal ends it; `port` 0 takes any free one. Raises: Refused when the port is taken."""
    app = Guard(build(options, starter).streamable_http_app(streamable_http_path=PATH), token(options.paths))
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=_GRACE_S,
    )
    with listening_on(port) as listening:
        server = uvicorn.Server(config)
        for number in (signal.SIGINT, signal.SIGTERM):
            # Before the address is told: until the server runs, a KeyboardInterrupt could be lost in an import.
            signal.signal(number, server.handle_exit)
        address = f"http://{HOST}:{listening.getsockname()[1]}{PATH}"
        sys.stderr.write(f"acud mcp: {address}, token in {token_path(options.paths)}\n")
        sys.stderr.flush()
        server.run(sockets=[listening])


def listening_on(port: int) -> socket.socket:
    """Return a socket of `HOST` that connections reach already: they wait in its backlog until the server runs, so the
    address may be told at once. The caller closes it. Raises: Refused when the port is taken.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen(_BACKLOG)
    except OSError as fault:
        listening.close()
        raise Refused(f"port {port} of {HOST} is taken: {fault.strerror}", hint="name another with --port") from fault
    return listening


Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_HOST = re.compile(rb"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.ASCII | re.IGNORECASE)
_ORIGIN = re.compile(rb"https?://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.ASCII | re.IGNORECASE)


class Guard:
    """Lets a request through to `app`, or answers 421 (a foreign Host: DNS rebinding), 403 (a web page's Origin) or
    401 (no token or a wrong one)."""

    def __init__(self, app: App, token: str) -> None:
        self._app = app
        self._bearer = f"Bearer {token}".encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; `lifespan` passes."""
        refusal = self.refusal(scope) if scope["type"] == "http" else None
        if scope["type"] not in ("http", "lifespan"):
            return
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await _answer(send, *refusal)

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return status and words for a request that must not pass."""
        hosts, origins, tokens = (_values(scope, name) for name in (b"host", b"origin", b"authorization"))
        if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
            return 421, "this server answers to 127.0.0.1 and localhost only"
        if not all(_ORIGIN.fullmatch(origin) for origin in origins):
            return 403, "pages of other origins may not use this server"
        if len(tokens) != 1 or not hmac.compare_digest(tokens[0], self._bearer):
            return 401, "send Authorization: Bearer with the token in the file mcp-token under ACU_HOME"
        return None


def _values(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key.lower() == name]


async def _answer(send: Send, status: int, words: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": words.encode()})


def token_path(paths: Paths) -> Path:
    """Return where the token lies."""
    return paths.home / "mcp-token"


def token(paths: Paths) -> str:
    """Return the token, made now when there is none. Raises: Refused when its file is open to others."""
    return kept_token(token_path(paths))
