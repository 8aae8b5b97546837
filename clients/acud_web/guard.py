"""Who may talk to the relay endpoints: Host, then Origin, then the token, before anything else is looked at. Plain
ASGI. Host and Origin are checked also where no token is asked for.
"""

from __future__ import annotations

import hmac

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from acud.http_listeners import ListenerSettings
from acud_web.answers import refusal
from acud_web.desk import Desk
from acud_web.origins import Names, raw, sharing, values

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
        self._names = Names(settings.host, settings.allowed_hosts, settings.allowed_origins)
        self.desk: Desk | None = None
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
            return Response(status_code=204, headers=_PREFLIGHT)  # browsers send no token with it
        if self._bearer and not self._knows(raw(scope, b"authorization")):
            return refusal(401, "send Authorization: Bearer with the token", {"WWW-Authenticate": "Bearer"})
        return None

    def _knows(self, given: list[bytes]) -> bool:
        if len(given) != 1:
            return False
        scheme, _, token = given[0].partition(b" ")
        return hmac.compare_digest(token.strip(), self._bearer) and scheme.lower() == b"bearer"
