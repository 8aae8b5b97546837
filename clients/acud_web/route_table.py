"""One line of the gateway's route table, what is checked before its endpoint is called, and the values that it reads.

Values of queries and bodies are read within limits, and taken as they are meant or refused by name.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.routing import BaseRoute, Match, Route, WebSocketRoute

from acud.base.typed_values import decode_json
from acud.protocol.web import Scope
from acud_http.errors import bad_json, fault, wrong
from acud_http.request_filter import values
from acud_web.access import Authenticator, need

BODY_BYTES = 64 * 1024


def _allow_nobody(_request: Request) -> bool:
    return False


class Row(Struct, frozen=True):
    """`scope`: what an access token needs at least (None: no token is needed). `method` is `WS` for a WebSocket.
    `body_bytes`: the longest body taken, which is JSON; of methods that have none nothing is read. `may_pass`: which
    requests need no pass all the same. `checks_body`: that a body is JSON, and no longer, is checked before the
    endpoint. `is_alias`: with another method the path is not there, and a path of another row is never this one's.

    The endpoint finds `request.state.gateway`, `.access_token` (where there is a scope), `.revocations` and
    `.admission`.
    """

    method: str
    path: str
    endpoint: Callable[[Any], Awaitable[Any]]
    scope: Scope | None
    body_bytes: int = BODY_BYTES
    may_pass: Callable[[Request], bool] = _allow_nobody
    checks_body: bool = True
    is_alias: bool = False

    @property
    def has_body(self) -> bool:
        """Whether a request of this kind brings JSON."""
        return self.method in ("POST", "PUT", "PATCH")


def route(row: Row) -> BaseRoute:
    """Return the Starlette route of `row`, entered only with an access token that is good for it."""

    async def enter(connection: Any) -> Any:
        if row.scope is not None and not row.may_pass(connection):
            admission: Authenticator = connection.state.admission
            connection.state.access_token = await admission.admit(connection)
            need(connection, row.scope)
        if row.checks_body and row.method != "WS":
            _check_body(connection, row)
        return await row.endpoint(connection)

    if row.method == "WS":
        return WebSocketRoute(row.path, enter)
    return (_AliasRoute if row.is_alias else Route)(row.path, enter, methods=[row.method])


class _AliasRoute(Route):
    def matches(self, scope: MutableMapping[str, Any]) -> tuple[Match, MutableMapping[str, Any]]:
        match, found = super().matches(scope)
        others = (one for one in scope["router"].routes if one is not self)
        if match is not Match.FULL or any(one.matches(scope)[0] is not Match.NONE for one in others):
            return Match.NONE, {}
        return match, found


def _check_body(request: Request, row: Row) -> None:
    most, headers = row.body_bytes if row.has_body else 0, request.headers
    length = headers.get("content-length", "")
    if length.isdigit() and int(length) > most:
        raise wrong(413, "too_large", f"the body may take {most} bytes here")
    if row.has_body and length != "0" and ("content-length" in headers or "transfer-encoding" in headers):
        kind = values(request.scope, b"content-type")
        if len(kind) != 1 or kind[0].partition(";")[0].strip().lower() != "application/json":
            raise wrong(415, "media_type", "send Content-Type: application/json")


_MOST = 2**53
"""Whole numbers that every JSON reader keeps exact."""


def query_number(request: Request, name: str, default: int) -> int:
    """Return the whole number `name` of the query. Raises: Fault 400 when it is none."""
    text = request.query_params.get(name, "")
    return whole(name, text) if text else default


def whole(name: str, value: Any) -> int:
    """Return `value`, a number or its text, without its fraction. Raises: Fault 400."""
    return int(number(name, value))


def number(name: str, value: Any) -> float | int:
    """Return `value`, a number or its text. Raises: Fault 400."""
    found = _read_number(value)
    # Size first: an int may be too large for isfinite.
    if found is None or abs(found) > _MOST or not math.isfinite(found):
        raise fault(400, f"{name} is not a number" if found is None else f"{name} is out of range")
    return found


def _read_number(value: Any) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if not isinstance(value, str):
        return value
    try:
        return int(value) if value.lstrip("+-").isdigit() else float(value)
    except ValueError:
        return None


def text(name: str, value: Any) -> str:
    """Return `value`, a text. Raises: Fault 400."""
    if not isinstance(value, str):
        raise fault(400, f"{name} is not a text")
    return value


def switch(name: str, value: Any) -> bool:
    """Return `value`, true or false. Raises: Fault 400: in JavaScript "false" would be true."""
    if not isinstance(value, bool):
        raise fault(400, f"{name} is not true or false")
    return value


LIMIT_BYTES = 2 * 1024 * 1024
CONFIG_LIMIT_BYTES = 4096
_READ_S = 20.0
"""A client that takes longer to send its body gives up its place."""
_READ_AWAY_BYTES = 8 * LIMIT_BYTES
"""As much of a body that is too large is read and dropped; of a larger one the client may not see the answer."""
_DEEPEST = 64
_LOWEST, _HIGHEST = -(2**63), 2**64 - 1
"""What msgpack can carry."""


async def json_object(request: Request, limit: int = LIMIT_BYTES, read_s: float = _READ_S) -> dict[str, Any]:
    """Return the object in the request's body. Raises: Fault 400 for anything else, 408 when it does not come within
    `read_s`, 413 when it is longer than `limit` bytes.
    """
    return parse_object(await _body_of(request, limit, read_s))


def parse_object(data: bytes) -> dict[str, Any]:
    """Return the JSON object in `data`. Raises: Fault 400."""
    try:
        body = decode_json(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise bad_json() from None
    if not isinstance(body, dict):
        raise bad_json()
    _check(body)
    return body


async def _body_of(request: Request, limit: int, read_s: float) -> bytes:
    try:
        async with asyncio.timeout(read_s):
            return await _collect_body(request, limit)
    except TimeoutError:
        raise fault(408, "the body did not come in time") from None
    except ClientDisconnect:
        raise fault(400, "the client hung up") from None


async def _collect_body(request: Request, limit: int) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size <= limit:
            parts.append(part)
        elif size > _READ_AWAY_BYTES:
            break
    if size > limit:
        # What was sent is read first: closing over unread bytes resets the connection, and the answer is lost (tcp(7)).
        raise fault(413, "body too large")
    return b"".join(parts)


def _check(body: Any) -> None:
    """Refuse what can't go on to the daemon; level by level, without recursion."""
    level = [body]
    for _ in range(_DEEPEST):
        if any(isinstance(value, int) and not _LOWEST <= value <= _HIGHEST for value in level):
            raise fault(400, "a number is too large")
        level = [inner for value in level for inner in _list_inner(value)]
    if level:
        raise fault(400, "nested too deeply")


def _list_inner(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
