"""Operations that are a request of the daemon, made from its declaration (`rest`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, get_type_hints

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo, replace

from acud.base.errors import InvalidRequest
from acud.base.typed_values import convert
from acud.base.value_errors import value_fault
from acud.protocol.requests.command import Command, RestOperation
from acud.protocol.requests.waits import ActionWait, may_name_host
from acud.types import DisplayInfo
from acud.types.displays import display_name
from acud.types.picture_views import parse
from acud_http.errors import wrong
from acud_web.access import need
from acud_web.api.displays import display_seen
from acud_web.api.operation import ApiRequest, Body, Nothing, Operation, Query, make_unseen_fault
from acud_web.api.tasks import task_seen
from acud_web.api.waits import wait_seen


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
        ask = api_request.ask if command.asked_s is None else api_request.ask_while_there
        return _hide_local_fields(await ask(await bind_request(api_request, request), command.reply))

    run.__doc__ = command.request.__doc__
    query, body = (fields, Nothing) if by_query else (Nothing, fields)
    reads = rest.method == "GET"
    statuses = (404,) if reads and in_path else () if reads else (404, 409)
    return Operation(rest.method, rest.path, rest.scope, run, command.reply, query, body, statuses=statuses)


def _build_request(kind: type[Struct], values: dict[str, Any], path_values: dict[str, str]) -> Struct:
    """Return the request of the checked `values` and the texts of the path. Raises: InvalidRequest."""
    hints = get_type_hints(kind, include_extras=True)
    for field, text in path_values.items():
        try:
            values[field] = convert(text, hints[field], strict=False)
        except msgspec.ValidationError as fault:
            raise InvalidRequest(value_fault(fault, hints[field], lax=True).of(field), field=field) from fault
    return kind(**values)


def _hide_local_fields(reply: Struct) -> Struct:
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


_FINDERS: dict[str, Callable[[ApiRequest[Any, Any], str], Awaitable[object]]] = {
    "wait_id": wait_seen,
    "task_id": task_seen,
    "name": display_seen,
    "display": display_seen,
}
"""By the field that a part of a path stands for: how the thing is found. Each raises where the access token may not see
it, and for an id that is not whole."""


async def check_path(request: ApiRequest[Query, Body], fields: dict[str, str]) -> None:
    """Check that the object in the path exists, and is the access token's. Raises: NotFound; HttpFault 403."""
    for field, value in fields.items():
        if field in _FINDERS:
            await _FINDERS[field](request, value)


async def bind_request(api_request: ApiRequest[Query, Body], request: Any, outer_display: str = "") -> Any:
    """Return `request`; for a limited access token bound to the display that the request names, itself or by its task,
    or else to `outer_display`. `check_path` has checked a request that names a wait or a task by its path.

    Raises: HttpFault 403 where it names nothing, or something of others.
    """
    if api_request.access_token.unlimited:
        return request
    if any(may_name_host(getattr(request, name, None)) for name in ("until", "expect")):
        words = "this access token is limited, and files and processes are of no display or task"
        raise wrong(403, "forbidden", words)
    if not hasattr(request, "display"):
        return request
    task_id = getattr(request, "task_id", "")
    own = (await task_seen(api_request, task_id)).task.display if task_id else ""
    display = request.display or own or outer_display
    if not display:
        words = "this access token is limited: name one of its displays, or a task of its own that has one"
        raise wrong(403, "forbidden", words)
    if display not in (own, outer_display):
        api_request.must_see(display=display)
    _check_words(request, display_name(display))
    bounds: dict[str, Any] = {"display": display}
    wait = getattr(request, "wait", None)
    if wait is not None:  # armed with an action; it may name what it looks at itself
        bounds["wait"] = await bind_request(api_request, wait, display)
    return replace(request, **bounds)


def _check_words(request: Struct, display: str) -> None:
    """Raises: HttpFault 403 when the target, or the view of a picture, names something that may not be on `display`."""
    target = str(getattr(request, "target", "")).strip().lower()
    named = target.removeprefix("display:") if target.startswith("display:") else display
    view = getattr(request, "view", "")
    if display_name(named) != display or target.startswith("pty:") or (view and parse(view).display != display):
        raise make_unseen_fault()
