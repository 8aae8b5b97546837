"""Who may talk to the listener: Host, then Origin, then the token, before anything else is looked at. Plain ASGI.

A page of a foreign site reaches loopback through the browser of whoever visits it. Host is checked against DNS
rebinding (the page's own name then points here), Origin against requests that need no permission of ours (a plain
POST); both also where no token is asked for.
"""

from __future__ import annotations

import hmac
import re

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from acud.listener import ListenerSettings
from acud_web.answers import refusal
from acud_web.desk import Desk

_HOST = re.compile(r"(?P<name>[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.ASCII)
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_WILDCARDS = frozenset({"0.0.0.0", "[::]"})  # noqa: S104 - names that nobody may call us by
_PREFLIGHT = {
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
        own = f"[{settings.host}]" if ":" in settings.host else settings.host
        named = {own.lower(), *(name.lower() for name in settings.allowed_hosts)}
        self._hosts = (_LOOPBACK | named) - _WILDCARDS
        self._origins = frozenset(settings.allowed_origins)
        self.desk: Desk | None = None
        """What the application asks; set before the first request."""
        self.passed = 0
        self.refused = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; anything but HTTP is left alone."""
        if scope["type"] != "http":
            return
        origins = _values(scope, b"origin")
        answer = self.answer(scope)
        if origins and origins[0] in self._origins:
            send = _sharing(send, origins[0])
        if answer is not None:
            self.refused += answer.status_code >= 400
            await answer(scope, receive, send)
            return
        self.passed += 1
        scope["state"] = {"desk": self.desk}
        await self._app(scope, receive, send)

    def answer(self, scope: Scope) -> Response | None:
        """Return what a request gets that goes no further, or None."""
        host = self._host(scope)
        if host is None:
            return refusal(421, "this server answers to its own host names only; see [relay] allowed_hosts")
        origins = _values(scope, b"origin")
        if len(origins) > 1 or not all(self._may(origin, host) for origin in origins):
            return refusal(403, "pages of other origins may not use this server; see [relay] allowed_origins")
        if origins and scope["method"] == "OPTIONS" and _values(scope, b"access-control-request-method"):
            return Response(status_code=204, headers=_PREFLIGHT)  # browsers send no token with it
        if self._bearer and not self._knows(_raw(scope, b"authorization")):
            return refusal(401, "send Authorization: Bearer with the token", {"WWW-Authenticate": "Bearer"})
        return None

    def _host(self, scope: Scope) -> str | None:
        hosts = _values(scope, b"host")
        found = _HOST.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
        return hosts[0].lower() if found is not None and found["name"] in self._hosts else None

    def _may(self, origin: str, host: str) -> bool:
        return origin in self._origins or origin.lower() in (f"http://{host}", f"https://{host}")

    def _knows(self, given: list[bytes]) -> bool:
        if len(given) != 1:
            return False
        scheme, _, token = given[0].partition(b" ")
        return hmac.compare_digest(token.strip(), self._bearer) and scheme.lower() == b"bearer"


def _raw(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key.lower() == name]


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for value in _raw(scope, name)]


def _sharing(send: Send, origin: str) -> Send:
    """Return `send` that lets pages of `origin` read the answer (the Fetch standard, CORS protocol)."""
    added = [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin")]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *added]
        await send(message)

    return sending
