"""The server as streamable HTTP on loopback, for hosts that take a URL: its listener, its token, its clients."""

from __future__ import annotations

import asyncio
from pathlib import Path

from starlette.responses import PlainTextResponse, Response

from acud.base.errors import Refused
from acud.base.paths import Paths
from acud.config.http_listeners import ListenerSettings
from acud_client.token import kept_token
from acud_http.request_filter import RequestFilter, Surface
from acud_http.server import Listener, Server, run_in_foreground
from acud_mcp.daemon import Starter
from acud_mcp.sdk_server import build
from acud_mcp.tool import Options

PATH = "/mcp"
_WORDS = {
    421: "this server answers to 127.0.0.1 and localhost only",
    403: "pages of other origins may not use this server",
    401: "send Authorization: Bearer with the token in the file mcp-token under ACU_HOME",
}


def _make_refusal(status: int, _code: str, _words: str, _hint: str) -> Response:
    return PlainTextResponse(_WORDS[status], status, {"Cache-Control": "no-store"})


SURFACE = Surface("mcp", _make_refusal, ("http", "lifespan"), loopback_pages=True)


def serve(options: Options, starter: Starter | None, port: int) -> None:
    """Serve until a signal ends it; `port` 0 takes any free one. Raises: Refused when the port is taken."""
    app = build(options, starter).streamable_http_app(streamable_http_path=PATH)
    with listening_on(port) as listening:
        filtered = RequestFilter(app, SURFACE, listening.settings, token(options.paths))
        server = Server(filtered, listening.socket, lifespan=True, dated=True)
        told = f"acud mcp: {listening.url}{PATH}, token in {token_path(options.paths)}"
        asyncio.run(run_in_foreground(server.run, server.stop, told))


def listening_on(port: int) -> Listener:
    """Return a listener of loopback that connections reach already: they wait in its backlog until the server runs, so
    the address may be announced at once. Raises: Refused when the port is taken.
    """
    settings = ListenerSettings(port=port)
    try:
        return Listener(SURFACE, settings)
    except Refused as fault:
        reason = fault.__cause__.strerror if isinstance(fault.__cause__, OSError) else fault.message
        raise Refused(f"port {port} of {settings.host} is taken: {reason}", hint="name another with --port") from fault


def token_path(paths: Paths) -> Path:
    return paths.home / "mcp-token"


def token(paths: Paths) -> str:
    """Return the token; make it if the file is missing. Raises: Refused when the file is open to others."""
    return kept_token(token_path(paths))
