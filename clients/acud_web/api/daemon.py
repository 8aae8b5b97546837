"""/api/health, usage and scene, and /metrics: the daemon's state, its cost, and the displays' content."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from acud.protocol.requests.daemon import Metrics, MetricsReply, Status, StatusReply, Usage, UsageReply
from acud.protocol.requests.scenes import SceneGet, SceneReply
from acud.protocol.requests.waits import WaitList, WaitListReply
from acud.protocol.web import Scope
from acud.types import WaitState
from acud.types.scene import LeftOut, Scene, SceneDiff, SceneMode
from acud_client import exposition
from acud_web.access import need_unlimited
from acud_web.api.operation import ApiRequest, Nothing, Operation
from acud_web.route_table import Row

_LIMITED = "this access token is limited: how the whole daemon does is not for it"


class UsageQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Of the last `days`, of one task or of all."""

    days: Annotated[int, Meta(ge=1, le=3650)] = 7
    task: Annotated[str, Meta(max_length=64)] = ""


class SceneQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`display`: several may be given; none: all that are up. `form` `prompt`: as text of at most `max_tokens` (0: all
    of it). Without a `mode`, as the scene was made last. `target`: an element's id, or words of a window's title.
    `within_s`: the answer comes by then, in seconds, with what was read before (0: at the end of the look).
    """

    display: Annotated[tuple[str, ...], Meta(max_length=256)] = ()
    form: Literal["json", "prompt"] = "json"
    mode: SceneMode | None = None
    max_tokens: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    since: Annotated[int, Meta(ge=0, le=2**53)] = 0
    target: Annotated[str, Meta(max_length=500)] = ""
    within_s: Annotated[float, Meta(ge=0, le=300)] = 5.0


class Seen(Struct, frozen=True):
    """`scene` for the form `json`, `text` for `prompt`, and what `max_tokens` kept out of that (`left_out`). `diff`
    from the scene `since` for the form `json`, where that is still known; the text of `prompt` is what differs.
    """

    scene: Scene | None
    text: str
    diff: SceneDiff | None
    left_out: tuple[LeftOut, ...] = ()


async def health(request: ApiRequest[Nothing, Nothing]) -> StatusReply:
    """Return the daemon's health; `degraded` holds every reason why it is not well. A limited access token gets its
    displays and the number of its waits.
    """
    found = await request.ask(Status(), StatusReply)
    displays = tuple(
        replace(one, auth_file="", bus_address="")
        for one in found.displays
        if request.access_token.sees_display(one.name)
    )
    if request.access_token.unlimited:
        return replace(found, displays=displays)
    live, every = [await _count_waits(request, states) for states in ((WaitState.WATCHING,), tuple(WaitState))]
    return StatusReply(
        version=found.version,
        protocol=found.protocol,
        pid=found.pid,
        started_utc_s=found.started_utc_s,
        uptime_s=found.uptime_s,
        home="",
        server_start=found.server_start,
        displays=displays,
        children=(),
        judges=(),
        waits_live=live,
        waits_ended=every - live,
        judge_calls=0,
        cost_usd_today=None,
        queued_jobs=0,
        degraded=(_LIMITED,),
    )


async def _count_waits(api_request: ApiRequest[Nothing, Nothing], states: tuple[WaitState, ...]) -> int:
    request = WaitList(
        states, limit=1, tasks=api_request.access_token.tasks, displays=api_request.access_token.displays
    )
    return (await api_request.ask(request, WaitListReply)).total


async def usage(request: ApiRequest[UsageQuery, Nothing]) -> UsageReply:
    """Return the cost of judging, by day, judge and task. A limited access token gets its tasks."""
    query, access_token = request.query, request.access_token
    if query.task:
        request.must_see(task_id=query.task)
    if not access_token.tasks:
        request.must_be_unlimited("usage")
    found = await request.ask(Usage(query.days, query.task), UsageReply)
    return found if access_token.unlimited else _keep_tasks(found, access_token.tasks)


def _keep_tasks(reply: UsageReply, tasks: tuple[str, ...]) -> UsageReply:
    rows = tuple(row for row in reply.rows if row.task_id in tasks)
    known = [row.cost_usd for row in rows if row.cost_usd is not None]
    return replace(
        reply,
        rows=rows,
        evaluations=sum(row.evaluations for row in rows),
        cost_usd=sum(known) if known else None,
        unpriced=sum(row.unpriced for row in rows),
    )


async def scene(api_request: ApiRequest[SceneQuery, Nothing]) -> Seen:
    """Return what is on displays: windows, texts, controls."""
    query, access_token = api_request.query, api_request.access_token
    for display in query.display:
        api_request.must_see(display=display)
    displays = query.display or access_token.displays
    if not displays:
        api_request.must_be_unlimited("a scene of no named display")
    request = SceneGet(
        query.mode, displays, query.form, query.max_tokens, query.since, target=query.target, within_s=query.within_s
    )
    found = await api_request.ask(request, SceneReply)
    return Seen(found.scene, found.text, found.diff, found.left_out)


OPERATIONS = (
    Operation("GET", "/api/health", Scope.READ, health, StatusReply),
    Operation("GET", "/api/usage", Scope.READ, usage, UsageReply, UsageQuery, statuses=(404,)),
    Operation("GET", "/api/scene", Scope.READ, scene, Seen, SceneQuery, statuses=(404,)),
)


_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


async def metrics(request: Request) -> Response:
    """Return the text. It names every display, so an access token that is limited to some is not good for it."""
    if not is_open(request):
        need_unlimited(request, Scope.READ)
    told = await request.state.gateway.ask(Metrics(), MetricsReply)
    return Response(exposition.text(told.metrics), media_type=exposition.CONTENT_TYPE)


def is_open(request: Request) -> bool:
    """Return whether this scrape needs no access token: `[web] metrics_open`, and it comes from this machine.

    A proxy on this machine forwards requests of others; those that announce it are no such scrapes.
    """
    if not request.state.settings.metrics_open or request.client is None:
        return False
    return _is_here(request.client.host) and not any(name in request.headers for name in _FORWARDED)


def _is_here(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


ROWS = (Row("GET", "/metrics", metrics, Scope.READ, may_pass=is_open),)
