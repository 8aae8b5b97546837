"""One operation of the API as data: where it is, what it needs, takes and returns. Routes and documents follow."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from acud.protocol.web import Scope
from acud_web.answers import answer
from acud_web.api.asked import BODY_BYTES, Asked, Nothing, query_of
from acud_web.rows import Row

Handler = Callable[[Asked[Any, Any]], Awaitable[Struct | Response]]


class Operation(Struct, frozen=True):
    """`path` is a template. `run` gets what was asked, checked against `query` and `body`; its docstring documents the
    operation. `reply`: what the JSON is; None where `media` says what else comes. `statuses`: what it may answer beside
    what any operation may.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    scope: Scope
    run: Handler
    reply: type[Struct] | None = None
    query: type[Struct] = Nothing
    body: type[Struct] = Nothing
    media: str = "application/json"
    statuses: tuple[int, ...] = ()

    async def endpoint(self, request: Request) -> Response:
        """Serve one request."""
        query = query_of(request, self.query)
        found = await self.run(Asked(request, query, self.body))
        return found if isinstance(found, Response) else answer(found)

    @property
    def row(self) -> Row:
        """The line of the route table, which has the pass checked."""
        return Row(self.method, self.path, self.endpoint, self.scope, BODY_BYTES)
