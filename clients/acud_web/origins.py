"""Which Host and which Origin a request may carry.

A page of a foreign site reaches loopback through the browser of whoever visits it. Host is checked against DNS
rebinding (the page's own name then points here), Origin against requests that need no permission of ours (a plain
POST, a WebSocket).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.types import Message, Scope, Send

_HOST = re.compile(r"(?P<name>[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.ASCII)
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_WILDCARDS = frozenset({"0.0.0.0", "[::]"})  # noqa: S104 - names that nobody may call us by


class ServerNames:
    """The names a server goes by: loopback's, the `host` it listens on, `allowed_hosts`; and whose pages may use it:
    its own, and those of `allowed_origins`.
    """

    def __init__(self, host: str, allowed_hosts: Sequence[str], allowed_origins: Sequence[str]) -> None:
        own = f"[{host}]" if ":" in host else host
        self._hosts = (_LOOPBACK | {own.lower(), *(name.lower() for name in allowed_hosts)}) - _WILDCARDS
        self._origins = frozenset(allowed_origins)

    def host(self, scope: Scope) -> str | None:
        """Return the request's Host in lower case, or None when it is not one of ours, or not exactly one."""
        hosts = values(scope, b"host")
        found = _HOST.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
        return hosts[0].lower() if found is not None and found["name"] in self._hosts else None

    def may(self, origins: Sequence[str], host: str) -> bool:
        """Tell whether a request with these Origin headers (none: no page sent it) may go on."""
        return len(origins) <= 1 and all(self._is_ours(origin, host) for origin in origins)

    def shares(self, origins: Sequence[str]) -> bool:
        """Tell whether the pages of the one Origin given may read answers, though they are of another origin."""
        return len(origins) == 1 and origins[0] in self._origins

    def _is_ours(self, origin: str, host: str) -> bool:
        return origin in self._origins or origin.lower() in (f"http://{host}", f"https://{host}")


def raw(scope: Scope, name: bytes) -> list[bytes]:
    """Return every value of the header `name` (lower case)."""
    return [value for key, value in scope["headers"] if key.lower() == name]


def values(scope: Scope, name: bytes) -> list[str]:
    """Return every value of the header `name` as text."""
    return [value.decode("latin-1") for value in raw(scope, name)]


def sharing(send: Send, origin: str) -> Send:
    """Return `send` that lets pages of `origin` read the answer (the Fetch standard, CORS protocol)."""
    added = [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin")]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *added]
        await send(message)

    return sending
