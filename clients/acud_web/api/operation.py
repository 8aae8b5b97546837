"""One operation of the API as data, and a request as its handlers get it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, Literal, NoReturn, TypeVar

import msgspec
from msgspec import Struct, inspect
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from acud.base.errors import InvalidRequest, NotFound
from acud.base.typed_values import convert
from acud.base.value_errors import value_fault
from acud.protocol import codec
from acud.protocol.web import AccessToken, Scope
from acud_http.errors import HttpFault, answer, wrong
from acud_web.access import SAFE, first_of
from acud_web.daemon_gateway import DaemonGateway
from acud_web.idempotency import IdempotencyKey
from acud_web.route_table import Row, json_object

BODY_BYTES = 1 << 20
"""The daemon takes no larger message."""


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """Takes nothing."""


Query = TypeVar("Query", bound=Struct)
Body = TypeVar("Body", bound=Struct)
Reply = TypeVar("Reply", bound=Struct)


class ApiRequest(Generic[Query, Body]):
    """One request that its access token allows in kind; the handler checks the owner of its object."""

    def __init__(self, request: Request, query: Query, body: type[Body]) -> None:
        self.connection: HTTPConnection = request
        self._request = request
        self.query = query
        self._body = body
        self.gateway: DaemonGateway = request.state.gateway
        self.access_token: AccessToken = request.state.access_token
        self._key = IdempotencyKey(request, self.access_token) if request.method not in SAFE else None

    def place(self, name: str) -> str:
        return str(self.connection.path_params[name])

    async def body(self) -> Body:
        """Return the body; a missing body is `{}`. Call after authorisation, so that errors in a body are not revealed
        to strangers.

        Raises: HttpFault; InvalidRequest naming the field.
        """
        return codec.convert(normalize_whole(await self.json()), self._body)

    async def json(self) -> dict[str, Any]:
        """Return the body as it came; `{}` for none. Raises: HttpFault."""
        headers = self.connection.headers
        has_body = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
        return await json_object(self._request, BODY_BYTES) if has_body else {}

    async def ask(self, request: Struct, kind: type[Reply]) -> Reply:
        """Return the daemon's reply; a request that changes something has the id that `Idempotency-Key` means.

        Raises: AcudError of the daemon; HttpFault 422 when the key was used for another request.
        """
        return await self._key.ask(self.gateway, request, kind) if self._key else await self.gateway.ask(request, kind)

    async def ask_while_there(self, request: Struct, kind: type[Reply]) -> Reply:
        """Return the daemon's reply to a request that may block; a client that hangs up ends the asking, so that no
        result counts as fetched. The daemon finishes what it has begun.

        Raises: AcudError; HttpFault 422 as for `ask`, 499 when the client hung up.
        """
        return await first_of(self.ask(request, kind), self._wait_until_gone())

    async def _wait_until_gone(self) -> NoReturn:
        while (await self._request.receive())["type"] != "http.disconnect":
            pass
        raise wrong(499, "gone", "the client hung up")

    async def find(self, request: Struct, kind: type[Reply]) -> Reply:
        """Return the daemon's reply about one thing, whose owner is still to be checked (`must_see`).

        Raises: AcudError; Fault 403 instead of NotFound for a limited access token, from which the existence of ids is
        hidden.
        """
        try:
            return await self.ask(request, kind)
        except NotFound:
            if self.access_token.unlimited:
                raise
            raise make_unseen_fault() from None

    def must_see(self, *, display: str = "", task_id: str = "") -> None:
        """Raises: Fault 403 when the access token is limited to other displays and tasks than these."""
        if not self.access_token.sees(display, task_id):
            raise make_unseen_fault()

    def must_be_unlimited(self, what: str) -> None:
        """Raises: Fault 403 when the access token is limited, and `what` is of no single display or task."""
        if not self.access_token.unlimited:
            raise wrong(403, "forbidden", f"this access token is limited, and {what} is told of everything together")


def make_unseen_fault() -> HttpFault:
    """Return the fault of what a limited access token may not see, in the same words whether it exists or not."""
    return wrong(403, "forbidden", "this access token is not good for that")


def check_whole_id(text: str, whole_id: str, noun: str) -> None:
    """Raises: NotFound unless `text` is the whole id; other clients may give its beginning, URLs may not."""
    if text != whole_id:
        raise NotFound(f"no {noun} {text[:80]}", hint="give the whole id")


def parse_query(connection: HTTPConnection, kind: type[Query]) -> Query:
    """Return the query as a `kind`. Raises: InvalidRequest naming the parameter at fault."""
    given: dict[str, Any] = {}
    shape = inspect.type_info(kind)
    assert isinstance(shape, inspect.StructType)
    several = frozenset(field.name for field in shape.fields if isinstance(field.type, inspect.VarTupleType))
    for name in connection.query_params:
        values = connection.query_params.getlist(name)
        if name not in several and len(values) > 1:
            raise InvalidRequest(f"{name}: given more than once", field=name)
        given[name] = values if name in several else values[0]
    try:
        return convert(given, kind, strict=False)
    except msgspec.ValidationError as fault:
        found = value_fault(fault, kind, lax=True)
        found = found._replace(field=found.field.partition("[")[0])  # a parameter that may come twice is a list to us
        raise InvalidRequest(found.of("the query"), field=found.field) from fault


def normalize_whole(value: Any) -> Any:
    """Return `value` with 2.0 as 2: to JSON Schema, and so to the API's document, that is a whole number too."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: normalize_whole(inner) for name, inner in value.items()}
    return [normalize_whole(inner) for inner in value] if isinstance(value, list) else value


Handler = Callable[[ApiRequest[Any, Any]], Awaitable[Struct | Response]]


class Operation(Struct, frozen=True):
    """`path` is a template. `run` gets the request, checked against `query` and `body`; its docstring documents the
    operation. `reply`: the type of the JSON; None if `media` names another kind of answer. `statuses`: what it may
    answer beside what any operation may.
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
        query = parse_query(request, self.query)
        found = await self.run(ApiRequest(request, query, self.body))
        return found if isinstance(found, Response) else answer(found)

    @property
    def row(self) -> Row:
        """The line of the route table, which has the access token checked."""
        return Row(self.method, self.path, self.endpoint, self.scope, BODY_BYTES)
