"""Operations that are a request of the daemon, made from its declaration (`rest`)."""

from __future__ import annotations

from typing import Any, get_type_hints

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo, replace

from acud.base.errors import InvalidRequest
from acud.base.typed_values import convert
from acud.base.value_errors import value_fault
from acud.protocol.requests.command import Command, RestOperation
from acud.protocol.requests.waits import ActionWait
from acud.types import DisplayInfo
from acud_web.access import need
from acud_web.api.operation import ApiRequest, Nothing, Operation
from acud_web.api.ownership import bind_request, check_path


def make_operation(command: Command, rest: RestOperation) -> Operation:
    """Return the operation `rest` that is the request of `command`: its fields, its reply, its documentation."""
    in_path = dict(rest.path_fields)
    fields = _list_fields(command.request, frozenset(in_path.values()))
    by_query = rest.method != "POST"
    is_owned = rest.whole or rest.path_fields or "display" in command.request.__struct_fields__
    assert is_owned, f"{rest.path}: name what it is about in the path, or say `whole`"

    async def run(api_request: ApiRequest[Any, Any]) -> Any:
        if rest.whole:
            api_request.must_be_unlimited(rest.whole)
        named = {field: api_request.place(part) for part, field in in_path.items()}
        await check_path(api_request, named)
        given = msgspec.structs.asdict(api_request.query if by_query else await api_request.body())
        request = _build_request(command.request, given, named)
        need(api_request.connection, rest.needs(request))
        return hide_local_fields(await _ask(api_request, command, await bind_request(api_request, request)))

    run.__doc__ = command.request.__doc__
    query, body = (fields, Nothing) if by_query else (Nothing, fields)
    reads = rest.method == "GET"
    statuses = (404,) if reads and in_path else () if reads else (404, 409)
    return Operation(rest.method, rest.path, rest.scope, run, command.reply, query, body, statuses=statuses)


async def _ask(api_request: ApiRequest[Any, Any], command: Command, request: Struct) -> Struct:
    if command.asked_s is not None:
        return await api_request.ask_while_there(request, command.reply)
    return await api_request.ask(request, command.reply)


def _build_request(kind: type[Struct], values: dict[str, Any], path_values: dict[str, str]) -> Struct:
    """Return the request of the checked `values` and the texts of the path. Raises: InvalidRequest."""
    hints = get_type_hints(kind, include_extras=True)
    for field, text in path_values.items():
        try:
            values[field] = convert(text, hints[field], strict=False)
        except msgspec.ValidationError as fault:
            raise InvalidRequest(value_fault(fault, hints[field], lax=True).of(field), field=field) from fault
    return kind(**values)


def hide_local_fields(reply: Struct) -> Struct:
    """Return `reply` without what only programs of the daemon's host need: paths and addresses there."""
    hidden: dict[str, Any] = {"evidence_path": ""} if hasattr(reply, "evidence_path") else {}
    wait = getattr(reply, "wait", None)
    if isinstance(wait, ActionWait):
        hidden["wait"] = replace(wait, evidence_path="")
    display = getattr(reply, "display", None)
    if isinstance(display, DisplayInfo):
        hidden["display"] = replace(display, auth_file="", bus_address="")
    return replace(reply, **hidden) if hidden else reply


def _list_fields(request: type[Struct], in_path: frozenset[str]) -> type[Struct]:
    """Return a struct of the fields of `request` but those `in_path`, without the tag, which only the wire has."""
    fields = [one for one in msgspec.structs.fields(request) if one.name not in in_path]
    if not fields:
        return Nothing
    hints = get_type_hints(request, include_extras=True)
    return msgspec.defstruct(
        f"{request.__name__}Fields",
        [_make_field(one, hints[one.name]) for one in fields],
        frozen=True,
        forbid_unknown_fields=True,
        namespace={"__doc__": ""},
    )


def _make_field(one: FieldInfo, kind: Any) -> tuple[str, Any, Any]:
    if one.default_factory is not msgspec.NODEFAULT:
        return one.name, kind, msgspec.field(default_factory=one.default_factory)
    return one.name, kind, msgspec.field() if one.required else msgspec.field(default=one.default)
