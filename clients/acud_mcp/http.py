"""The server as streamable HTTP on loopback, for hosts that take a URL."""

from __future__ import annotations

import signal
import socket
import sys

import uvicorn

from acud.errors import Refused
from acud_mcp.daemon import Starter
from acud_mcp.guard import Guard
from acud_mcp.options import Options
from acud_mcp.server import build
from acud_mcp.token import token, token_path

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
