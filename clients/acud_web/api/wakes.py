"""/api/wakes: the wakes, and what became of them. /api/push: browsers that take notifications."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.base.errors import NotFound
from acud.protocol.push import PushTarget
from acud.protocol.requests.notifications import PushList, PushListReply, PushReply, PushSubscribe, PushUnsubscribe
from acud.protocol.requests.wakes import WakeList, WakeListReply, WakeRetry, WakeRetryReply
from acud.protocol.web import Scope
from acud.types import WakeInfo, WakeState
from acud_web.api.operation import ApiRequest, Body, Nothing, Operation, Query, make_unseen_fault
from acud_web.daemon_gateway import Owners

_MOST = 1000


class WakesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Those in any of the states given, or all."""

    state: tuple[WakeState, ...] = ()
    limit: Annotated[int, Meta(ge=1, le=_MOST)] = 100


async def wakes(request: ApiRequest[WakesQuery, Nothing]) -> WakeListReply:
    """List wakes that the access token may see, newest first; for a limited one, of the newest thousand, without the
    routes.
    """
    query, access_token = request.query, request.access_token
    limit = query.limit if access_token.unlimited else _MOST
    found = await request.ask(WakeList(query.state or tuple(WakeState), limit=limit), WakeListReply)
    if access_token.unlimited:
        return found
    owners = Owners(request.gateway)
    seen = [wake for wake in found.wakes if await _sees_wake(request, owners, wake)]
    return WakeListReply(tuple(seen[: query.limit]), len(seen), ())


async def retry(request: ApiRequest[Nothing, Nothing]) -> WakeRetryReply:
    """Send a wake again now, over the routes that are set up now. A conflict when it was seen."""
    wake_id = request.place("id")
    found = await request.ask(WakeList(tuple(WakeState), limit=_MOST), WakeListReply)
    wake = next((one for one in found.wakes if one.wake_id == wake_id), None)
    if wake is None and request.access_token.unlimited:
        raise NotFound(f"no wake {wake_id[:80]} among the newest {_MOST}", hint="GET /api/wakes lists them")
    if wake is None or not await _sees_wake(request, Owners(request.gateway), wake):
        raise make_unseen_fault()
    return await request.find(WakeRetry((wake_id,)), WakeRetryReply)


async def _sees_wake(request: ApiRequest[Query, Body], owners: Owners, wake: WakeInfo) -> bool:
    if request.access_token.sees(task_id=wake.task_id):
        return True
    owner = await owners.find_wait_owner(wake.wait_id) if wake.wait_id else None
    return owner is not None and request.access_token.sees(owner.display, owner.task_id)


# ---- /api/push: an access token sees its own subscriptions alone


class PushState(Struct, frozen=True):
    """`on`: whether browsers are notified; `reason`: why not. `public_key`: what a browser subscribes with.
    `subscriptions`: the ids of this access token's own.
    """

    on: bool
    reason: str
    public_key: str
    subscriptions: tuple[str, ...]


async def state(request: ApiRequest[Nothing, Nothing]) -> PushState:
    """Return whether browsers are notified, their key to subscribe, and the subscriptions of this access token."""
    found = await request.ask(PushList(request.access_token.pass_id), PushListReply)
    return PushState(found.on, found.reason, found.public_key, tuple(one.push_id for one in found.subscriptions))


async def subscribe(request: ApiRequest[Nothing, PushTarget]) -> PushReply:
    """Subscribe this browser to notifications of what its access token may see. The daemon answers with a conflict if
    there are too many subscriptions.
    """
    return await request.ask(PushSubscribe(request.access_token.pass_id, await request.body()), PushReply)


async def unsubscribe(request: ApiRequest[Nothing, Nothing]) -> PushReply:
    """Send this access token's browser nothing any more."""
    try:
        return await request.ask(PushUnsubscribe(request.place("id"), request.access_token.pass_id), PushReply)
    except NotFound:
        if request.access_token.unlimited:
            raise
        raise make_unseen_fault() from None


OPERATIONS = (
    Operation("GET", "/api/wakes", Scope.READ, wakes, WakeListReply, WakesQuery),
    Operation("POST", "/api/wakes/{id}/retry", Scope.ACT, retry, WakeRetryReply, statuses=(404, 409)),
    Operation("GET", "/api/push", Scope.READ, state, PushState),
    Operation("POST", "/api/push", Scope.READ, subscribe, PushReply, body=PushTarget, statuses=(409,)),
    Operation("DELETE", "/api/push/{id}", Scope.READ, unsubscribe, PushReply, statuses=(404,)),
)
