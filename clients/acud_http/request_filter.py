"""The outermost layer of everything that acud serves over HTTP: Host, Origin, the listener's token, headers.

A page of a foreign site reaches loopback through the browser of whoever visits it. Host is checked against DNS
rebinding (the page's own name then points here), Origin against requests that need no permission of ours (a plain
POST, a WebSocket).
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Sequence

from msgspec import Struct
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from acud.config.http_listeners import ListenerSettings, WebSettings
from acud_http.errors import ENDPOINT_ERRORS, GATEWAY_ERRORS

_HOST = re.compile(r"(?P<name>[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.ASCII)
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_WILDCARDS = frozenset({"0.0.0.0", "[::]"})  # noqa: S104 - names that nobody may call us by


class ServerNames:
    """The names a server goes by: loopback's, the `host` it listens on, `allowed_hosts`; and whose pages may use it:
    its own, and those of `allowed_origins`; with `loopback_pages` those of any server on this machine too.
    """

    def __init__(
        self, host: str, allowed_hosts: Sequence[str], allowed_origins: Sequence[str], *, loopback_pages: bool = False
    ) -> None:
        own = f"[{host}]" if ":" in host else host
        self._hosts = (_LOOPBACK | {own.lower(), *(name.lower() for name in allowed_hosts)}) - _WILDCARDS
        self._origins = frozenset(allowed_origins)
        self._loopback_pages = loopback_pages

    def host(self, scope: Scope) -> str | None:
        """Return the request's Host in lower case, or None when it is not one of ours, or not exactly one."""
        hosts = values(scope, b"host")
        found = _HOST.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
        return hosts[0].lower() if found is not None and found["name"] in self._hosts else None

    def may(self, origins: Sequence[str], host: str, scheme: str) -> bool:
        """Tell whether a request with these Origin headers (none: no page sent it) may go on; it came by `scheme`."""
        return len(origins) <= 1 and all(self._is_ours(origin, f"{scheme}://{host}") for origin in origins)

    def shares(self, origins: Sequence[str]) -> bool:
        """Tell whether the pages of the one Origin given may read answers, though they are of another origin."""
        return len(origins) == 1 and origins[0] in self._origins

    def _is_ours(self, origin: str, own: str) -> bool:
        scheme, _, place = origin.lower().partition("://")
        if origin in self._origins or origin.lower() == own:
            return True
        found = _HOST.fullmatch(place) if self._loopback_pages and scheme in ("http", "https") else None
        return found is not None and found["name"] in _LOOPBACK


def _get_own_page_scheme(scope: Scope) -> str:
    """Return the scheme that a page of this server has: a WebSocket's own is ws or wss."""
    return "https" if scope.get("scheme") in ("https", "wss") else "http"


def raw(scope: Scope, name: bytes) -> list[bytes]:
    """Return every value of the header `name` (lower case)."""
    return [value for key, value in scope["headers"] if key.lower() == name]


def values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for value in raw(scope, name)]


def bearer_of(scope: Scope) -> str | None:
    """Return the token in the header Authorization; "" for several or another kind, None without."""
    heads = values(scope, b"authorization")
    if not heads:
        return None
    scheme, _, token = heads[0].partition(" ")
    return token.strip() if len(heads) == 1 and scheme.lower() == "bearer" else ""


def sharing(send: Send, origin: str) -> Send:
    """Return `send` that lets pages of `origin` read the answer (the Fetch standard, CORS protocol)."""
    added = [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin")]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *added]
        await send(message)

    return sending


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
    """What differs between the gateway, the HTTP endpoints and the MCP server.

    `table`: of the settings. `refuse`: makes the answer from status, code, words and hint. `kinds`: the ASGI scopes
    that are served. `methods`, `request_headers`: what a page of an allowed origin may use. `headers`: what every
    answer gets that has not set them. `loopback_pages`: whether pages of any server on this machine may use it.
    """

    table: str
    refuse: Callable[[int, str, str, str], Response]
    kinds: tuple[str, ...] = ("http",)
    methods: str = ""
    request_headers: str = ""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    loopback_pages: bool = False


GATEWAY = Surface(
    "web",
    GATEWAY_ERRORS.refusal,
    ("http", "websocket"),
    "GET, POST, DELETE",
    "authorization, content-type, idempotency-key, last-event-id, range, x-acud",
    tuple((name.lower().encode("ascii"), value.encode("ascii")) for name, value in HEADERS.items()),
)
ENDPOINTS = Surface(
    "http_endpoints", ENDPOINT_ERRORS.refusal, methods="GET, POST", request_headers="authorization, content-type"
)


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
        self._names = ServerNames(
            settings.host, settings.allowed_hosts, settings.allowed_origins, loopback_pages=surface.loopback_pages
        )
        self.state: dict[str, object] = {}
        self.passed = 0
        self.refused = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or one WebSocket; anything else is left alone."""
        if scope["type"] not in self._surface.kinds:
            return
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
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
        scope["state"] = {**scope.get("state", {}), **self.state}
        await self._app(scope, receive, send)

    def answer(self, scope: Scope, origins: list[str]) -> Response | None:
        """Return what a request gets that goes no further, or None."""
        surface = self._surface
        host = self._names.host(scope)
        if host is None:
            words = "this server answers to its own host names only"
            return surface.refuse(421, "host", words, f"see [{surface.table}] allowed_hosts")
        if not self._names.may(origins, host, _get_own_page_scheme(scope)):
            words = "pages of other origins may not use this server"
            return surface.refuse(403, "origin", words, f"see [{surface.table}] allowed_origins")
        if (
            origins
            and surface.methods
            and scope.get("method") == "OPTIONS"
            and raw(scope, b"access-control-request-method")
        ):
            return self._answer_preflight()
        if self._bearer and not hmac.compare_digest((bearer_of(scope) or "").encode("latin-1"), self._bearer):
            refused = surface.refuse(401, "unauthorized", "send Authorization: Bearer with the token", "")
            refused.headers["WWW-Authenticate"] = "Bearer"
            return refused
        return None

    def _answer_preflight(self) -> Response:
        """Return what a browser asks for before it sends a request; it sends no token or session with that."""
        allowed = {
            "Access-Control-Allow-Methods": self._surface.methods,
            "Access-Control-Allow-Headers": self._surface.request_headers,
            "Access-Control-Max-Age": "600",
        }
        return Response(status_code=204, headers=allowed)


def _with_headers(send: Send, headers: tuple[tuple[bytes, bytes], ...]) -> Send:
    if not headers:
        return send

    async def sending(message: Message) -> None:
        if message["type"] in _STARTS:
            given = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(one for one in headers if one[0] not in given)]
        await send(message)

    return sending
