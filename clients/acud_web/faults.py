"""What the gateway's errors are in HTTP: `{ok: false, error, code, hint?}` always."""

from __future__ import annotations

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.websockets import WebSocket, WebSocketState

from acud import errors
from acud.errors import AcudError
from acud_web.answers import HttpFault, answer

_STATUS: dict[type[AcudError], tuple[int, str]] = {
    errors.NotFound: (404, "not_found"),
    errors.Conflict: (409, "conflict"),
    errors.NoJudge: (422, "no_judge"),
    errors.Refused: (403, "refused"),
    errors.UsageError: (422, "invalid"),
    errors.DaemonDown: (503, "unavailable"),
    errors.Unavailable: (503, ""),
    errors.ProtocolError: (502, ""),
}
"""Status and code by kind of error, the nearest kind first; "": the error's own code."""


_FACTS = ("done",)
"""What a page must know of an error beyond its words: of several actions, how many were done before it."""
_NONE = Match.NONE


def wrong(status: int, code: str, words: str, hint: str = "") -> HttpFault:
    """Return the fault to raise where a request goes no further."""
    body = {"ok": False, "error": words, "code": code}
    return HttpFault(status, {**body, "hint": hint} if hint else body)


def as_fault(found: AcudError) -> HttpFault:
    """Return what an error of the daemon, or of the way to it, is over HTTP."""
    kinds = (_STATUS[kind] for kind in type(found).__mro__ if kind in _STATUS)
    status, code = next(kinds, (500, ""))
    fault = wrong(status, code or found.code, found.message, found.hint)
    facts = {name: found.facts[name] for name in _FACTS if name in found.facts}
    return HttpFault(fault.status, {**fault.body, **facts})


def response_of(fault: HttpFault) -> Response:
    """Return the answer that tells of `fault`."""
    body = {"code": f"http_{fault.status}", **fault.body, "ok": False}
    return answer(body, fault.status, {"WWW-Authenticate": "Bearer"} if fault.status == 401 else None)


async def told(connection: HTTPConnection, found: Exception) -> Response | None:
    """Answer an HttpFault or an AcudError; a WebSocket that was not accepted gets it as an HTTP answer, another one as
    the reason of its close.
    """
    assert isinstance(found, HttpFault | AcudError)
    fault = found if isinstance(found, HttpFault) else as_fault(found)
    if not isinstance(connection, WebSocket):
        return response_of(fault)
    if connection.application_state is WebSocketState.CONNECTING:
        await connection.send_denial_response(response_of(fault))
    else:
        code = 1008 if fault.status < 500 else 1011  # RFC 6455, 7.4.1; a reason may take 123 bytes
        await connection.close(code, str(fault.body["error"]).encode()[:120].decode(errors="ignore"))
    return None


async def not_found(_request: Request, _found: Exception) -> Response:
    """Answer a path that is not served."""
    return response_of(wrong(404, "not_found", "nothing is served here"))


async def wrong_method(request: Request, _found: Exception) -> Response:
    """Answer a method that a path does not have, naming those that it has (RFC 9110, section 15.5.6)."""
    there = [one for one in request.app.routes if isinstance(one, Route) and one.matches(request.scope)[0] is not _NONE]
    response = response_of(wrong(405, "method_not_allowed", "this path does not take that method"))
    response.headers["Allow"] = ", ".join(sorted({method for one in there for method in one.methods or ()}))
    return response


async def broken(_request: Request, _found: Exception) -> Response:
    """Answer a fault of the gateway itself, which the log tells of."""
    return response_of(wrong(500, "internal", "a fault of acud itself: see acud logs --level error"))
