"""The JSON object of a request, read within limits of size, depth, number and time."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request

from acud_web.answers import bad_json, fault

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
    return parsed(await _read(request, limit, read_s))


def parsed(data: bytes) -> dict[str, Any]:
    """Return the JSON object in `data`. Raises: Fault 400."""
    try:
        body = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise bad_json() from None
    if not isinstance(body, dict):
        raise bad_json()
    _check(body)
    return body


async def _read(request: Request, limit: int, read_s: float) -> bytes:
    try:
        async with asyncio.timeout(read_s):
            return await _collected(request, limit)
    except TimeoutError:
        raise fault(408, "the body did not come in time") from None
    except ClientDisconnect:
        raise fault(400, "the client hung up") from None


async def _collected(request: Request, limit: int) -> bytes:
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
        level = [inner for value in level for inner in _inner(value)]
    if level:
        raise fault(400, "nested too deeply")


def _inner(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
