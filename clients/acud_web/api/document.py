"""/api/openapi.json: the description of the API, made from its operations and from the types on the wire."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Sequence
from functools import cache
from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from acud.protocol import VERSION
from acud.protocol.requests.terminals import TerminalName
from acud.protocol.web import Scope
from acud_http.errors import answer
from acud_web.api.operation import Nothing, Operation, normalize_whole
from acud_web.idempotency import HEADER, PATTERN
from acud_web.route_table import Row

OPENAPI = "3.1.0"
Node = dict[str, Any]

_REF = "#/components/schemas/{name}"
_PLACE = re.compile(r"\{(\w+)\}")
_ALWAYS = (401, 403, 422, 429, 500, 503)
_WITH_BODY = (400, 408, 413, 415)
_PLACES: dict[str, Any] = {
    "n": {"type": "integer", "minimum": 1},
    "item": {"type": "integer", "minimum": 1, "maximum": 100_000},
    "number": {"type": "integer", "minimum": 1, "maximum": 4_294_967_295},
    "terminal": msgspec.json.schema(TerminalName),
}
_KEY: Node = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": "A repeat with the same key does nothing again, and is answered as the first was.",
    "schema": {"type": "string", "pattern": PATTERN},
}
_ID = {"type": "string", "minLength": 1, "maxLength": 64}


class Problem(Struct, frozen=True):
    """Why a request was not served: in words, as a code for programs and, where there is one, the next step."""

    ok: bool
    error: str
    code: str
    hint: str = ""


def rows(routes: Sequence[Row], operations: Sequence[Operation]) -> tuple[Row, ...]:
    """Return the route of the document that describes `routes` under /api; the first request makes the document."""

    async def openapi(_request: Request) -> Response:
        """Return this document."""
        return answer(await asyncio.to_thread(make))

    row = Row("GET", "/api/openapi.json", openapi, Scope.READ)
    make = cache(lambda: document((*routes, row), operations))
    return (row,)


def document(routes: Sequence[Row], operations: Sequence[Operation]) -> Node:
    """Return the OpenAPI document. Rows that are no operation are described by their docstring alone."""
    schemas = _Schemas(operations)
    known: dict[tuple[str, str], Operation] = {(one.method, one.path): one for one in operations}
    paths: Node = {}
    for row in routes:
        if row.path.startswith("/api/") and row.method != "WS":
            found = known.get((row.method, row.path))
            described = schemas.operation(found) if found is not None else _describe_plain(row)
            paths.setdefault(row.path, {})[row.method.lower()] = described
    return {
        "openapi": OPENAPI,
        "info": {"title": "acud", "version": str(VERSION), "description": _ABOUT},
        "paths": paths,
        "components": {"schemas": schemas.components, "securitySchemes": _SECURITY},
        "security": [{"token": []}, {"session": []}],
    }


_ABOUT = (
    "The REST API of acud's web gateway. Fields are those of docs/protocol.md. What changes something and carries the "
    "cookie needs the header X-Acud: 1 and an Origin of this server."
)
_SECURITY = {
    "token": {"type": "http", "scheme": "bearer"},
    "session": {"type": "apiKey", "in": "cookie", "name": "acud_session"},
}


class _Schemas:
    """The schemas of every type that an operation names."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        kinds = {kind: None for one in operations for kind in (one.query, one.body, one.reply) if kind is not None}
        refs, made = msgspec.json.schema_components([*kinds, Problem], ref_template=_REF)
        # Bounds of 45 and 45.0 are one type to `typing`: which one it returns depends on the order of imports.
        self.components = normalize_whole(made)
        self._refs = dict(zip([*kinds, Problem], refs, strict=True))
        # A query is described parameter by parameter.
        self._queries = {kind: self._take_out(kind) for kind in {one.query: None for one in operations}}

    def _take_out(self, kind: type[Struct]) -> Node:
        return dict(self.components.pop(str(self._refs[kind]["$ref"]).rpartition("/")[2]))

    def operation(self, found: Operation) -> Node:
        summary, description = words_of(found.run)
        node = _describe_row(found, summary, description)
        key = [] if found.method == "GET" else [_KEY]
        node["parameters"] = [*_list_places(found.path), *self._describe_query(found.query), *key]
        if found.body is not Nothing:
            content = {"application/json": {"schema": self._refs[found.body]}}
            node["requestBody"] = {"required": True, "content": content}
        node["responses"] = {"200": self._describe_answer(found), **self._describe_faults(found)}
        return node

    def _describe_query(self, kind: type[Struct]) -> list[Node]:
        return [
            {"name": name, "in": "query", "required": False, "schema": schema}
            for name, schema in self._queries[kind].get("properties", {}).items()
        ]

    def _describe_answer(self, operation: Operation) -> Node:
        schema = self._refs[operation.reply] if operation.reply is not None else {}
        return {"description": "Done", "content": {operation.media: {"schema": schema}}}

    def _describe_faults(self, operation: Operation) -> Node:
        statuses = {*_ALWAYS, *operation.statuses, *(_WITH_BODY if operation.method == "POST" else ())}
        return {str(status): self._describe_fault(operation, status) for status in sorted(statuses)}

    def _describe_fault(self, operation: Operation, status: int) -> Node:
        described: Node = {"description": HTTPStatus(status).phrase}
        if status == 206:
            return {**described, "content": {operation.media: {"schema": {}}}}
        if status in (304, 416):
            return described
        return {**described, "content": {"application/json": {"schema": self._refs[Problem]}}}


def _describe_plain(row: Row) -> Node:
    summary, description = words_of(row.endpoint)
    return {
        **_describe_row(row, summary, description),
        "parameters": _list_places(row.path),
        "responses": {"200": {"description": "Done"}, "default": {"description": "Not served: see Problem"}},
    }


def _describe_row(operation: Operation | Row, summary: str, description: str) -> Node:
    node: Node = {
        "operationId": _name_operation(operation),
        "summary": summary,
        "x-scope": operation.scope and operation.scope.value,
    }
    if operation.scope is None:
        node["security"] = []
    return {**node, "description": description} if description else node


def _name_operation(operation: Operation | Row) -> str:
    parts = re.findall(r"\w+", operation.path.removeprefix("/api/"))
    return "_".join([operation.method.lower(), *parts])


def _list_places(path: str) -> list[Node]:
    names = _PLACE.findall(path)
    return [{"name": name, "in": "path", "required": True, "schema": _PLACES.get(name, _ID)} for name in names]


def words_of(endpoint: Any) -> tuple[str, str]:
    """Return the first sentence of a docstring, without its stop, and the rest but for what is raised."""
    text = " ".join((inspect.getdoc(endpoint) or "").partition("Raises:")[0].split())
    first, _, rest = text.partition(". ")
    return first.rstrip("."), rest.strip()
