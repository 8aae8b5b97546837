"""/api/displays: the displays, their windows, and a person's hand on them."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from acud.base.errors import NotFound
from acud.protocol.requests.actions import ActionReply, DesktopAction
from acud.protocol.requests.displays import DisplayList, DisplayListReply
from acud.protocol.web import Scope
from acud.types import MonitorInfo, WindowInfo
from acud.types.actions import Action, Launch
from acud_web.access import need
from acud_web.api.operation import ApiRequest, Body, Nothing, Operation, Query

Lease = Annotated[str, Meta(min_length=1, max_length=64)]


class DisplaysQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`ended`: those that have ended too."""

    ended: bool = False


class Windows(Struct, frozen=True):
    """The windows of a display, topmost first, the id of the focused one (0: none), and the monitors."""

    display: str
    windows: tuple[WindowInfo, ...]
    focused: int
    monitors: tuple[MonitorInfo, ...]


class ActionsBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Actions in order; the first that fails ends the rest. Points are pixels of `target`: of the display (`screen`),
    or from the top left corner of one of its windows or regions.
    """

    lease: Lease
    actions: Annotated[tuple[Action, ...], Meta(min_length=1, max_length=64)]
    target: Annotated[str, Meta(max_length=1100, pattern="^(screen|(window|region|monitor|pty):.+)$")] = "screen"


async def displays(request: ApiRequest[DisplaysQuery, Nothing]) -> DisplayListReply:
    """List the displays that the access token may see."""
    found = await request.ask(DisplayList(request.query.ended), DisplayListReply)
    seen = tuple(
        replace(one, auth_file="", bus_address="")
        for one in found.displays
        if request.access_token.sees_display(one.name)
    )
    return DisplayListReply(seen, found.default if request.access_token.sees_display(found.default) else "")


async def windows(request: ApiRequest[Nothing, Nothing]) -> Windows:
    """List the windows and monitors of a display."""
    name = request.place("name")
    request.must_see(display=name)
    found = await request.ask(DisplayList(), DisplayListReply)
    for display in found.displays:
        if display.name == name:
            return Windows(name, display.windows, display.focused, display.monitors)
    raise _make_nothing(name)


async def act(request: ApiRequest[Nothing, ActionsBody]) -> ActionReply:
    """Act on a display that was taken over, with its lease. Launching a program needs a token of scope admin."""
    name = await display_seen(request, request.place("name"))
    body = await request.body()
    if any(isinstance(action, Launch) for action in body.actions):
        need(request.connection, Scope.ADMIN)
    # `display` binds it: a target, or an element's id, can name nothing on another one.
    return await request.ask(DesktopAction(body.actions, body.target, name, lease=body.lease), ActionReply)


async def display_seen(request: ApiRequest[Query, Body], name: str) -> str:
    """Return the name of the display `name`, which is up. Raises: NotFound; HttpFault 403 where the access token may
    not see it. Some requests of the daemon take an unknown name for a display that is to be adopted.
    """
    request.must_see(display=name)
    found = await request.ask(DisplayList(), DisplayListReply)
    if not any(display.name == name for display in found.displays):
        raise _make_nothing(name)
    return name


def _make_nothing(name: str) -> NotFound:
    return NotFound(f"no display {name[:80]}", hint="GET /api/displays lists them")


OPERATIONS = (
    Operation("GET", "/api/displays", Scope.READ, displays, DisplayListReply, DisplaysQuery),
    Operation("GET", "/api/displays/{name}/windows", Scope.READ, windows, Windows, statuses=(404,)),
    Operation(
        "POST", "/api/displays/{name}/actions", Scope.ACT, act, ActionReply, body=ActionsBody, statuses=(404, 409)
    ),
)
