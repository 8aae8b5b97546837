"""What a request of the daemon is about, so that a limited access token reaches nothing of others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from acud.protocol.requests.waits import may_name_host
from acud.types.displays import display_name
from acud.types.picture_views import parse
from acud_http.errors import wrong
from acud_web.api.displays import display_seen
from acud_web.api.operation import ApiRequest, Body, Query, make_unseen_fault
from acud_web.api.tasks import task_seen
from acud_web.api.waits import wait_seen

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
