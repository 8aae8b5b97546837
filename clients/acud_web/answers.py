"""Answers in JSON, and what each error of acud is in HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from acud import errors
from acud.errors import AcudError

_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_STATUS: dict[type[AcudError], int] = {
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.Refused: 403,
    errors.UsageError: 400,
    errors.Unavailable: 503,
    errors.ProtocolError: 502,
}


class HttpFault(Exception):
    """A request that can't be served, with its status and body."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        super().__init__(body.get("error", ""))
        self.status = status
        self.body = body


def fault(status: int, words: str) -> HttpFault:
    """Return a fault whose body is `{ok: false, error: words}`."""
    return HttpFault(status, {"ok": False, "error": words})


def bad_json() -> HttpFault:
    """Return the fault of a body that is no JSON object."""
    return HttpFault(400, {"error": "bad json"})


def answer(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return `body` (plain values, structs) as JSON."""
    return Response(msgspec.json.encode(body), status, {**_HEADERS, **(headers or {})}, media_type="application/json")


def refusal(status: int, words: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return `{ok: false, error: words}`."""
    return answer({"ok": False, "error": words}, status, headers)


def not_found(_request: Request, _fault: Exception) -> Response:
    """Answer a path or a method that is not served."""
    return answer({"error": "not found"}, 404)


def told(_request: Request, found: Exception) -> Response:
    """Answer an `HttpFault`."""
    assert isinstance(found, HttpFault)
    return answer(found.body, found.status)


def failed(_request: Request, found: Exception) -> Response:
    """Answer an error that the daemon, or the way to it, gave: the reason, and the next step in `hint`."""
    assert isinstance(found, AcudError)
    status = next((_STATUS[kind] for kind in type(found).__mro__ if kind in _STATUS), 500)
    body = {"ok": False, "error": found.message, "code": found.code}
    return answer({**body, "hint": found.hint} if found.hint else body, status)


def broken(_request: Request, _found: Exception) -> Response:
    """Answer a fault of the listener itself, which the log tells of."""
    return refusal(500, "a fault of acud itself: see acud logs --level error")
