"""One line of the gateway's route table, and what is checked before its endpoint is called."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from acud.protocol.web import Scope
from acud_web.access import Authenticator, need
from acud_web.errors import wrong
from acud_web.request_filter import values

BODY_BYTES = 64 * 1024

HttpEndpoint = Callable[[Request], Awaitable[Response]]
SocketEndpoint = Callable[[WebSocket], Awaitable[None]]


def _nobody(_request: Request) -> bool:
    return False


class Row(Struct, frozen=True):
    """`scope`: what a pass needs at least (None: anybody may). `method` is `WS` for a WebSocket. `body_bytes`: the
    longest body taken, which is JSON; of methods that have none nothing is read. `may_pass`: which requests need no
    pass all the same.

    The endpoint finds `request.state.gateway`, `.pass_` (where there is a scope), `.revocations` and `.admission`, and
    asks `permits` for what it shows of which display or task.
    """

    method: str
    path: str
    endpoint: Callable[[Any], Awaitable[Any]]
    scope: Scope | None
    body_bytes: int = BODY_BYTES
    may_pass: Callable[[Request], bool] = _nobody

    @property
    def has_body(self) -> bool:
        """Whether a request of this kind brings JSON."""
        return self.method in ("POST", "PUT", "PATCH")


def route(row: Row) -> BaseRoute:
    """Return the Starlette route that `row` means."""
    if row.method == "WS":
        return WebSocketRoute(row.path, _socket(row))
    return Route(row.path, _http(row), methods=[row.method])


def _http(row: Row) -> HttpEndpoint:
    async def enter(request: Request) -> Response:
        if row.scope is not None and not row.may_pass(request):
            admission: Authenticator = request.state.admission
            request.state.pass_ = await admission.admit(request)
            need(request, row.scope)
        _check_body(request, row)
        found: Response = await row.endpoint(request)
        return found

    return enter


def _socket(row: Row) -> SocketEndpoint:
    async def enter(socket: WebSocket) -> None:
        if row.scope is not None:
            admission: Authenticator = socket.state.admission
            socket.state.pass_ = await admission.admit(socket)
            need(socket, row.scope)
        await row.endpoint(socket)

    return enter


def _check_body(request: Request, row: Row) -> None:
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > (row.body_bytes if row.has_body else 0):
        raise wrong(413, "too_large", f"the body may take {row.body_bytes if row.has_body else 0} bytes here")
    if row.has_body and length != "0" and _has_body(request):
        kind = values(request.scope, b"content-type")
        if len(kind) != 1 or kind[0].partition(";")[0].strip().lower() != "application/json":
            raise wrong(415, "media_type", "send Content-Type: application/json")


def _has_body(request: Request) -> bool:
    return "content-length" in request.headers or "transfer-encoding" in request.headers
