"""One operation of the API as data, and a request as its handlers get it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, Literal, TypeVar, get_type_hints

import msgspec
from msgspec import Struct, inspect
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from acud.errors import InvalidRequest, NotFound
from acud.protocol import codec
from acud.protocol.requests.command import Command, RestOperation
from acud.protocol.web import AccessToken, Scope
from acud.value_errors import value_fault
from acud_web.daemon_gateway import DaemonGateway
from acud_web.errors import HttpFault, answer, wrong
from acud_web.route_table import Row, json_object

BODY_BYTES = 1 << 20
"""The daemon takes no larger message."""


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """Takes nothing."""


Query = TypeVar("Query", bound=Struct)
Body = TypeVar("Body", bound=Struct)
Reply = TypeVar("Reply", bound=Struct)


class ApiRequest(Generic[Query, Body]):
    """One request that its access token allows in kind; of whose things it tells is for the handler to check."""

    def __init__(self, request: Request, query: Query, body: type[Body]) -> None:
        self.connection: HTTPConnection = request
        self._request = request
        self.query = query
        self._body = body
        self.gateway: DaemonGateway = request.state.gateway
        self.access_token: AccessToken = request.state.access_token

    def place(self, name: str) -> str:
        """Return the part `name` of the path."""
        return str(self.connection.path_params[name])

    async def body(self) -> Body:
        """Return the body; none at all counts as `{}`. To be asked for once the access token was found to be good for
        the place: who may not be here is not told what is wrong with a body.

        Raises: HttpFault; InvalidRequest naming the field.
        """
        headers = self.connection.headers
        has_body = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
        return codec.convert(_counted(await json_object(self._request, BODY_BYTES)) if has_body else {}, self._body)

    async def ask(self, request: Struct, kind: type[Reply]) -> Reply:
        """Return the daemon's reply. Raises: AcudError, as the daemon says."""
        return await self.gateway.ask(request, kind)

    async def find(self, request: Struct, kind: type[Reply]) -> Reply:
        """Return the daemon's reply about one thing, whose owner is still to be checked (`must_see`).

        Raises: AcudError; Fault 403 instead of NotFound for a limited access token, which learns of no id whether it
        exists.
        """
        try:
            return await self.gateway.ask(request, kind)
        except NotFound:
            if self.access_token.unlimited:
                raise
            raise unseen() from None

    def must_see(self, *, display: str = "", task_id: str = "") -> None:
        """Raises: Fault 403 when the access token is limited to other displays and tasks than these."""
        if not self.access_token.sees(display, task_id):
            raise unseen()

    def must_be_unlimited(self, what: str) -> None:
        """Raises: Fault 403 when the access token is limited, and `what` is of no single display or task."""
        if not self.access_token.unlimited:
            raise wrong(403, "forbidden", f"this access token is limited, and {what} is told of everything together")


def unseen() -> HttpFault:
    """Return the fault of what a limited access token may not see, in the same words whether there is such a thing or
    not.
    """
    return wrong(403, "forbidden", "this access token is not good for that")


def same(given: str, found: str, noun: str) -> None:
    """Raises: NotFound unless `given` is the whole id; other clients may give its beginning, URLs may not."""
    if given != found:
        raise NotFound(f"no {noun} {given[:80]}", hint="give the whole id")


def query_of(connection: HTTPConnection, kind: type[Query]) -> Query:
    """Return the query as a `kind`. Raises: InvalidRequest naming the parameter at fault."""
    given: dict[str, Any] = {}
    several = _several(kind)
    for name in connection.query_params:
        values = connection.query_params.getlist(name)
        if name not in several and len(values) > 1:
            raise InvalidRequest(f"{name}: given more than once", field=name)
        given[name] = values if name in several else values[0]
    return _converted(given, kind)


def _several(kind: type[Struct]) -> frozenset[str]:
    shape = inspect.type_info(kind)
    assert isinstance(shape, inspect.StructType)
    return frozenset(field.name for field in shape.fields if isinstance(field.type, inspect.VarTupleType))


def _converted(given: dict[str, Any], kind: type[Query]) -> Query:
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as fault:
        found = value_fault(fault, kind, lax=True)
        found = found._replace(field=found.field.partition("[")[0])  # a parameter that may come twice is a list to us
        raise InvalidRequest(found.of("the query"), field=found.field) from fault


def _counted(value: Any) -> Any:
    """Return `value` with 2.0 as 2: to JSON Schema, and so to the API's document, that is a whole number too."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _counted(inner) for name, inner in value.items()}
    return [_counted(inner) for inner in value] if isinstance(value, list) else value


Handler = Callable[[ApiRequest[Any, Any]], Awaitable[Struct | Response]]


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
        found = await self.run(ApiRequest(request, query, self.body))
        return found if isinstance(found, Response) else answer(found)

    @property
    def row(self) -> Row:
        """The line of the route table, which has the access token checked."""
        return Row(self.method, self.path, self.endpoint, self.scope, BODY_BYTES)


def operation_of(command: Command, rest: RestOperation) -> Operation:
    """Return the operation `rest` that is the request of `command`: its fields, its reply, its documentation."""
    fields = _untagged(command.request)

    async def run(asked: ApiRequest[Any, Any]) -> Any:
        asked.must_be_unlimited(rest.whole)
        given = asked.query if rest.method == "GET" else await asked.body()
        return await asked.ask(command.request(**msgspec.structs.asdict(given)), command.reply)

    run.__doc__ = command.request.__doc__
    query, body = (fields, Nothing) if rest.method == "GET" else (Nothing, fields)
    return Operation(rest.method, rest.path, rest.scope, run, command.reply, query, body)


def _untagged(request: type[Struct]) -> type[Struct]:
    """Return a struct of the fields of `request`, without the tag that only the daemon's wire has."""
    if not request.__struct_fields__:
        return Nothing
    hints = get_type_hints(request, include_extras=True)
    fields = [_field(one, hints[one.name]) for one in msgspec.structs.fields(request)]
    return msgspec.defstruct(
        f"{request.__name__}Fields", fields, frozen=True, forbid_unknown_fields=True, namespace={"__doc__": ""}
    )


def _field(one: msgspec.structs.FieldInfo, kind: Any) -> tuple[str, Any, Any]:
    if one.default_factory is not msgspec.NODEFAULT:
        return one.name, kind, msgspec.field(default_factory=one.default_factory)
    return one.name, kind, msgspec.field() if one.required else msgspec.field(default=one.default)
