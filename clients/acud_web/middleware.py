"""The outermost layers of the gateway and of the relay endpoints: Host, Origin, token, headers."""

from __future__ import annotations

import hmac

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from acud.http_listeners import ListenerSettings, WebSettings
from acud_web.access import Revocations
from acud_web.answers import refusal
from acud_web.api.hub import Hub
from acud_web.authentication import Admission
from acud_web.daemon_gateway import DaemonGateway
from acud_web.faults import response_of, wrong
from acud_web.live.displays import Hub as LiveHub
from acud_web.origins import Names, raw, sharing, values

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
_RAW = [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in HEADERS.items()]
_GATEWAY_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": "authorization, content-type, last-event-id, range, x-acud",
    "Access-Control-Max-Age": "600",
}
_STARTS = ("http.response.start", "websocket.http.response.start")


class Gate:
    """Lets requests through to `app`, or answers 421 (a foreign Host) or 403 (a foreign Origin). Plain ASGI."""

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        self._app = app
        self.settings = settings
        self._names = Names(settings.host, settings.allowed_hosts, settings.allowed_origins)
        self._metrics_open = settings.metrics_open
        self._state: dict[str, object] = {}
        self.passed = 0
        self.refused = 0

    def open(self, desk: DaemonGateway, live: LiveHub) -> Revocations:
        """Begin to ask `desk` and to show what `live` watches; return what is to be run beside the server."""
        admission = Admission(desk)
        revocations = Revocations(admission)
        self._state = {"desk": desk, "admission": admission, "revocations": revocations, "hub": Hub(desk), "live": live}
        self._state["metrics_open"] = self._metrics_open
        return revocations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or one WebSocket; anything else is left alone."""
        if scope["type"] not in ("http", "websocket"):
            return
        origins = values(scope, b"origin")
        send = _dressed(sharing(send, origins[0]) if self._names.shares(origins) else send)
        answer = self.answer(scope, origins)
        if answer is not None:
            self.refused += answer.status_code >= 400
            await answer(scope, receive, send)
            return
        self.passed += 1
        scope["state"] = dict(self._state)
        await self._app(scope, receive, send)

    def answer(self, scope: Scope, origins: list[str]) -> Response | None:
        """Return what a request gets that goes no further, or None."""
        host = self._names.host(scope)
        if host is None:
            words = "this server answers to its own host names only"
            return response_of(wrong(421, "host", words, "see [web] allowed_hosts"))
        if not self._names.may(origins, host):
            words = "pages of other origins may not use this server"
            return response_of(wrong(403, "origin", words, "see [web] allowed_origins"))
        if origins and scope.get("method") == "OPTIONS" and raw(scope, b"access-control-request-method"):
            return Response(status_code=204, headers=_GATEWAY_PREFLIGHT)  # browsers send no pass with it
        return None


def _dressed(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] in _STARTS:
            given = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(one for one in _RAW if one[0] not in given)]
        await send(message)

    return sending


_RELAY_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "authorization, content-type",
    "Access-Control-Max-Age": "600",
}


class Guard:
    """Lets requests through to `app`, or answers 421 (a foreign Host), 403 (a foreign Origin) or 401 (no token or a
    wrong one). `token` "": none is asked for.
    """

    def __init__(self, app: ASGIApp, settings: ListenerSettings, token: str) -> None:
        self._app = app
        self._bearer = token.encode("ascii")
        self._names = Names(settings.host, settings.allowed_hosts, settings.allowed_origins)
        self.desk: DaemonGateway | None = None
        """What the application asks; set before the first request."""
        self.passed = 0
        self.refused = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; anything but HTTP is left alone."""
        if scope["type"] != "http":
            return
        origins = values(scope, b"origin")
        answer = self.answer(scope)
        if self._names.shares(origins[:1]):
            send = sharing(send, origins[0])
        if answer is not None:
            self.refused += answer.status_code >= 400
            await answer(scope, receive, send)
            return
        self.passed += 1
        scope["state"] = {"desk": self.desk}
        await self._app(scope, receive, send)

    def answer(self, scope: Scope) -> Response | None:
        """Return what a request gets that goes no further, or None."""
        host = self._names.host(scope)
        if host is None:
            return refusal(421, "this server answers to its own host names only; see [relay] allowed_hosts")
        origins = values(scope, b"origin")
        if not self._names.may(origins, host):
            return refusal(403, "pages of other origins may not use this server; see [relay] allowed_origins")
        if origins and scope["method"] == "OPTIONS" and raw(scope, b"access-control-request-method"):
            return Response(status_code=204, headers=_RELAY_PREFLIGHT)  # browsers send no token with it
        if self._bearer and not self._knows(raw(scope, b"authorization")):
            return refusal(401, "send Authorization: Bearer with the token", {"WWW-Authenticate": "Bearer"})
        return None

    def _knows(self, given: list[bytes]) -> bool:
        if len(given) != 1:
            return False
        scheme, _, token = given[0].partition(b" ")
        return hmac.compare_digest(token.strip(), self._bearer) and scheme.lower() == b"bearer"
