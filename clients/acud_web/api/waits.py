"""/api/waits: the waits, what was judged of them, and the pictures that prove it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.responses import Response

from acud.protocol.requests.waits import (
    EvidenceGet,
    EvidencePart,
    EvidenceReply,
    WaitList,
    WaitListReply,
    WaitShow,
    WaitShowReply,
)
from acud.protocol.web import Scope
from acud.types import WaitFilter, WaitState
from acud.types.conditions.arguments import OfferedKind, list_forms
from acud.types.displays import MAX_NUMBER
from acud_web.api.files import picture
from acud_web.api.operation import ApiRequest, Body, Nothing, Operation, Query, check_whole_id


class WaitsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Those in any of the states given, or all; of one task (its whole id), on one display, for one judge, that ended
    (or else were armed) since a moment; those with words that begin with each word of `text`. `limit` of them from the
    `offset`th on; with `facets`, also which displays, tasks and judges there are.
    """

    state: tuple[WaitState, ...] = ()
    task: Annotated[str, Meta(max_length=64)] = ""
    display: Annotated[str, Meta(max_length=100)] = ""
    judge: Annotated[str, Meta(max_length=32)] = ""
    text: Annotated[str, Meta(max_length=200)] = ""
    since: Annotated[float, Meta(ge=0)] = 0.0
    offset: Annotated[int, Meta(ge=0, le=MAX_NUMBER)] = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    facets: bool = False


class WaitQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the newest evaluations; with `before`, of those before the one with that number."""

    evaluations: Annotated[int, Meta(ge=0, le=1000)] = 200
    before: Annotated[int, Meta(ge=0, le=MAX_NUMBER)] = 0


class EvidenceQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The view as it resolved the wait, as it was before, or what differs; or the image that the condition looks for.
    Of a stage that was reached before the end (counted from 1), with `stage`. `verdict`: what the verdict with this
    `number` looked at, a small JPEG.
    """

    part: EvidencePart = "after"
    stage: Annotated[int, Meta(ge=0, le=16)] = 0
    number: Annotated[int, Meta(ge=0, le=MAX_NUMBER)] = 0


async def waits(api_request: ApiRequest[WaitsQuery, Nothing]) -> WaitListReply:
    """List waits that the access token may see, newest first."""
    query, access_token = api_request.query, api_request.access_token
    if query.task:
        api_request.must_see(task_id=query.task)
    if query.display:
        api_request.must_see(display=query.display)
    request = WaitList(
        query.state or tuple(WaitState),
        limit=query.limit,
        tasks=access_token.tasks,
        displays=access_token.displays,
        filter=WaitFilter(query.text, query.display, query.task, query.judge, query.since),
        offset=query.offset,
        facets=query.facets,
    )
    return await api_request.ask(request, WaitListReply)


async def wait(request: ApiRequest[WaitQuery, Nothing]) -> WaitShowReply:
    """Show a wait with its newest evaluations, oldest of them first: the timeline of its verdicts."""
    return replace(
        await _find_seen(request, request.query.evaluations, request.query.before), evidence_path="", stage_paths=()
    )


async def evidence(request: ApiRequest[EvidenceQuery, Nothing]) -> Response:
    """Show a picture that was kept of a wait. Not found, with the reason, if there is none."""
    shown = await _find_seen(request, 0)
    part, stage, number = request.query.part, request.query.stage, request.query.number
    found = await request.find(EvidenceGet(shown.wait.wait_id, part, stage, number), EvidenceReply)
    return picture(request.connection, found.image, "image/jpeg" if part == "verdict" else "image/png")


async def _find_seen(request: ApiRequest[Query, Body], evaluations: int, before: int = 0) -> WaitShowReply:
    """Return the wait of the path. Raises: NotFound; HttpFault 403 where the access token may not see it."""
    return await wait_seen(request, request.place("id"), evaluations, before)


async def wait_seen(
    request: ApiRequest[Query, Body], wait_id: str, evaluations: int = 0, before: int = 0
) -> WaitShowReply:
    """Return the wait with this whole id. Raises: NotFound; HttpFault 403 where the access token may not see it."""
    found = await request.find(WaitShow(wait_id, evaluations, before), WaitShowReply)
    request.must_see(display=found.wait.display, task_id=found.wait.spec.task_id)
    check_whole_id(wait_id, found.wait.wait_id, "wait")
    return found


class ConditionForms(Struct, frozen=True):
    """The kinds of conditions that a form offers, in its order."""

    kinds: tuple[OfferedKind, ...]


async def conditions(request: ApiRequest[Nothing, Nothing]) -> ConditionForms:
    """Return the kinds of conditions, each with the fields of a form and their JSON Schemas."""
    return ConditionForms(list_forms())


OPERATIONS = (
    Operation("GET", "/api/conditions", Scope.READ, conditions, ConditionForms),
    Operation("GET", "/api/waits", Scope.READ, waits, WaitListReply, WaitsQuery),
    Operation("GET", "/api/waits/{id}", Scope.READ, wait, WaitShowReply, WaitQuery, statuses=(404,)),
    Operation(
        "GET", "/api/waits/{id}/evidence", Scope.READ, evidence, None, EvidenceQuery, media="image/png", statuses=(404,)
    ),
)
