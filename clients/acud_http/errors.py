"""Answers in JSON, and errors in HTTP, as each router words them: the gateway, and the endpoints of a listener."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.websockets import WebSocket, WebSocketState

from acud.base import errors
from acud.base.errors import AcudError

_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class HttpFault(Exception):
    """A request that can't be served, with its status and body."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        super().__init__(body.get("error", ""))
        self.status = status
        self.body = body


def fault(status: int, words: str) -> HttpFault:
    """Return a fault whose body is `{ok: false, error: words}`."""
    return HttpFault(status, {"ok": False, "error": words})


def wrong(status: int, code: str, words: str, hint: str = "") -> HttpFault:
    """Return the fault with a code and, if given, the next step."""
    body = {"ok": False, "error": words, "code": code}
    return HttpFault(status, {**body, "hint": hint} if hint else body)


def bad_json() -> HttpFault:
    return HttpFault(400, {"error": "bad json"})


def answer(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return `body` (plain values, structs) as JSON."""
    return Response(msgspec.json.encode(body), status, {**_HEADERS, **(headers or {})}, media_type="application/json")


def code_of(error: AcudError) -> str:
    """Return the code of an error; that of a daemon that listens, but has not answered yet, is one of its own."""
    return "daemon_busy" if error.facts.get("reason") == "busy" else error.code


_FACTS = ("done",)
"""What a page must know of an error beyond its words: of several actions, how many were done before it."""
_NONE = Match.NONE


class ErrorFormat(Struct, frozen=True):
    """How a router words its errors.

    `statuses`: status and code by kind of error, the nearest kind first; "": the error's own code. `every_code`: every
    body has `ok` and a code, and a path that is there says which methods it takes; without, only errors of the daemon
    have a code. `missing`: what is told of a path that is not served.
    """

    statuses: Mapping[type[AcudError], tuple[int, str]]
    missing: HttpFault
    every_code: bool

    @property
    def handlers(self) -> dict[Any, Any]:
        """For Starlette, whose own type knows no handler for both requests and WebSockets."""
        return {
            404: self._not_found,
            405: self._wrong_method,
            HttpFault: self.answer_fault,
            AcudError: self.answer_fault,
            500: self._answer_500,
        }

    def as_fault(self, error: AcudError) -> HttpFault:
        """Return what an error of the daemon, or of the way to it, is over HTTP."""
        kinds = (self.statuses[kind] for kind in type(error).__mro__ if kind in self.statuses)
        status, code = next(kinds, (500, ""))
        made = wrong(status, code or code_of(error), error.message, error.hint)
        facts = {name: error.facts[name] for name in _FACTS if self.every_code and name in error.facts}
        return HttpFault(made.status, {**made.body, **facts})

    def response(self, error: HttpFault) -> Response:
        if not self.every_code:
            return answer(error.body, error.status)
        body = {"code": f"http_{error.status}", **error.body, "ok": False}
        return answer(body, error.status, {"WWW-Authenticate": "Bearer"} if error.status == 401 else None)

    def refusal(self, status: int, code: str, words: str, hint: str) -> Response:
        """Return the answer to a request that goes no further than the listener."""
        if self.every_code:
            return self.response(wrong(status, code, words, hint))
        return self.response(fault(status, f"{words}; {hint}" if hint else words))

    async def answer_fault(self, connection: HTTPConnection, error: Exception) -> Response | None:
        """Answer a fault or an AcudError; a WebSocket that was not accepted yet gets it as an HTTP answer, another one
        as the reason of its close.
        """
        assert isinstance(error, HttpFault | AcudError)
        made = error if isinstance(error, HttpFault) else self.as_fault(error)
        if not isinstance(connection, WebSocket):
            return self.response(made)
        if connection.application_state is WebSocketState.CONNECTING:
            await connection.send_denial_response(self.response(made))
        else:
            code = 1008 if made.status < 500 else 1011  # RFC 6455, 7.4.1; a reason may take 123 bytes
            await connection.close(code, str(made.body["error"]).encode()[:120].decode(errors="ignore"))
        return None

    async def _not_found(self, _request: Request, _fault: Exception) -> Response:
        return self.response(self.missing)

    async def _wrong_method(self, request: Request, _fault: Exception) -> Response:
        """Answer a method that a path does not have, naming those that it has (RFC 9110, section 15.5.6)."""
        if not self.every_code:
            return self.response(self.missing)
        routes = [one for one in request.app.routes if isinstance(one, Route)]
        there = {method for one in routes if one.matches(request.scope)[0] is not _NONE for method in one.methods or ()}
        response = self.response(wrong(405, "method_not_allowed", "this path does not take that method"))
        response.headers["Allow"] = ", ".join(sorted(there))
        return response

    async def _answer_500(self, _request: Request, _fault: Exception) -> Response:
        """Answer a fault of acud's own, which the log tells of."""
        words = "a fault of acud itself: see acud logs --level error"
        return self.response(wrong(500, "internal", words) if self.every_code else fault(500, words))


GATEWAY_ERRORS = ErrorFormat(
    {
        errors.NotFound: (404, "not_found"),
        errors.Conflict: (409, "conflict"),
        errors.NoJudge: (422, "no_judge"),
        errors.NotEnabled: (403, "not_enabled"),
        errors.NotInstalled: (501, "not_installed"),
        errors.Refused: (403, "refused"),
        errors.UsageError: (422, "invalid"),
        errors.Unavailable: (503, ""),
        errors.OutcomeUnknown: (409, ""),
        errors.ProtocolError: (502, ""),
    },
    wrong(404, "not_found", "nothing is served here"),
    every_code=True,
)
ENDPOINT_ERRORS = ErrorFormat(
    {
        errors.NotFound: (404, ""),
        errors.Conflict: (409, ""),
        errors.Refused: (403, ""),
        errors.UsageError: (400, ""),
        errors.Unavailable: (503, ""),
        errors.ProtocolError: (502, ""),
    },
    HttpFault(404, {"error": "not found"}),
    every_code=False,
)
"""What programs that read the endpoints of docs/relay.md know."""
