"""Who may talk to the HTTP server: Host and Origin of this machine, and the bearer token. Plain ASGI."""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

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
