"""The outermost layer of everything that acud serves over HTTP: Host, Origin, the listener's token, headers."""

from __future__ import annotations

import hmac
from collections.abc import Callable

from msgspec import Struct
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from acud.http_listeners import ListenerSettings, WebSettings
from acud_web.answers import refusal
from acud_web.faults import response_of, wrong
from acud_web.origins import (
    ServerNames,
    raw,
    sharing,
    values,
)

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; "
        "connect-src 'self'; font-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Where an answer has not set them itself."""
_STARTS = ("http.response.start", "websocket.http.response.start")


class Surface(Struct, frozen=True):
    """What differs between the gateway and the relay endpoints.

    `table`: of the settings. `kinds`: the ASGI scopes that are served. `methods`, `request_headers`: what a page of an
    allowed origin may use. `headers`: what every answer gets that has not set them. `refuse`: makes the answer from
    status, code, words and hint.
    """

    table: str
    kinds: tuple[str, ...]
    methods: str
    request_headers: str
    headers: tuple[tuple[bytes, bytes], ...]
    refuse: Callable[[int, str, str, str], Response]


def _refuse_gateway(status: int, code: str, words: str, hint: str) -> Response:
    return response_of(wrong(status, code, words, hint))


def _refuse_relay(status: int, _code: str, words: str, hint: str) -> Response:
    return refusal(status, f"{words}; {hint}")


GATEWAY = Surface(
    "web",
    ("http", "websocket"),
    "GET, POST, DELETE",
    "authorization, content-type, last-event-id, range, x-acud",
    tuple((name.lower().encode("ascii"), value.encode("ascii")) for name, value in HEADERS.items()),
    _refuse_gateway,
)
RELAY = Surface("http_endpoints", ("http",), "GET, POST", "authorization, content-type", (), _refuse_relay)


class RequestFilter:
    """Lets requests through to `app`, or answers 421 (a foreign Host), 403 (a foreign Origin) or 401 (no token or a
    wrong one). Plain ASGI. `token` "": the listener itself asks for none.

    `state` is what every request finds as its state; its owner fills it before the first request.
    """

    def __init__(
        self, app: ASGIApp, surface: Surface, settings: ListenerSettings | WebSettings, token: str = ""
    ) -> None:
        self._app = app
        self._surface = surface
        self._bearer = token.encode("ascii")
        self._names = ServerNames(settings.host, settings.allowed_hosts, settings.allowed_origins)
        self.state: dict[str, object] = {}
        self.passed = 0
        self.refused = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or one WebSocket; anything else is left alone."""
        if scope["type"] not in self._surface.kinds:
            return
        origins = values(scope, b"origin")
        if self._names.shares(origins):
            send = sharing(send, origins[0])
        send = _with_headers(send, self._surface.headers)
        answer = self.answer(scope, origins)
        if answer is not None:
            self.refused += answer.status_code >= 400
            await answer(scope, receive, send)
            return
        self.passed += 1
        scope["state"] = dict(self.state)
        await self._app(scope, receive, send)

    def answer(self, scope: Scope, origins: list[str]) -> Response | None:
        """Return what a request gets that goes no further, or None."""
        surface = self._surface
        host = self._names.host(scope)
        if host is None:
            words = "this server answers to its own host names only"
            return surface.refuse(421, "host", words, f"see [{surface.table}] allowed_hosts")
        if not self._names.may(origins, host):
            words = "pages of other origins may not use this server"
            return surface.refuse(403, "origin", words, f"see [{surface.table}] allowed_origins")
        if origins and scope.get("method") == "OPTIONS" and raw(scope, b"access-control-request-method"):
            return self._preflight()
        if self._bearer and not self._knows(raw(scope, b"authorization")):
            return refusal(401, "send Authorization: Bearer with the token", {"WWW-Authenticate": "Bearer"})
        return None

    def _preflight(self) -> Response:
        """Return what a browser asks for before it sends a request; it sends no token or session with that."""
        allowed = {
            "Access-Control-Allow-Methods": self._surface.methods,
            "Access-Control-Allow-Headers": self._surface.request_headers,
            "Access-Control-Max-Age": "600",
        }
        return Response(status_code=204, headers=allowed)

    def _knows(self, given: list[bytes]) -> bool:
        if len(given) != 1:
            return False
        scheme, _, token = given[0].partition(b" ")
        return hmac.compare_digest(token.strip(), self._bearer) and scheme.lower() == b"bearer"


def _with_headers(send: Send, headers: tuple[tuple[bytes, bytes], ...]) -> Send:
    if not headers:
        return send

    async def sending(message: Message) -> None:
        if message["type"] in _STARTS:
            given = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(one for one in headers if one[0] not in given)]
        await send(message)

    return sending
