"""/api/push: browsers that take notifications. A pass sees its own subscriptions alone."""

from __future__ import annotations

from msgspec import Struct

from acud.errors import NotFound
from acud.protocol.push import PushTarget
from acud.protocol.requests.notifications import PushList, PushListReply, PushReply, PushSubscribe, PushUnsubscribe
from acud.protocol.web import Scope
from acud_web.api.operation import (
    ApiRequest,
    Nothing,
    Operation,
    unseen,
)


class PushState(Struct, frozen=True):
    """`on`: whether browsers are notified; `reason`: why not. `public_key`: what a browser subscribes with.
    `subscriptions`: the ids of this pass's own.
    """

    on: bool
    reason: str
    public_key: str
    subscriptions: tuple[str, ...]


async def state(asked: ApiRequest[Nothing, Nothing]) -> PushState:
    """Tell whether browsers are notified, with which key they subscribe, and which subscriptions are this pass's."""
    found = await asked.ask(PushList(asked.pass_.pass_id), PushListReply)
    return PushState(found.on, found.reason, found.public_key, tuple(one.push_id for one in found.subscriptions))


async def subscribe(asked: ApiRequest[Nothing, PushTarget]) -> PushReply:
    """Send notifications of what the pass may see to this browser. A conflict when there are too many."""
    return await asked.ask(PushSubscribe(asked.pass_.pass_id, await asked.body()), PushReply)


async def unsubscribe(asked: ApiRequest[Nothing, Nothing]) -> PushReply:
    """Send this pass's browser nothing any more."""
    try:
        return await asked.ask(PushUnsubscribe(asked.place("id"), asked.pass_.pass_id), PushReply)
    except NotFound:
        if asked.pass_.unlimited:
            raise
        raise unseen() from None


OPERATIONS = (
    Operation("GET", "/api/push", Scope.READ, state, PushState),
    Operation("POST", "/api/push", Scope.READ, subscribe, PushReply, body=PushTarget, statuses=(409,)),
    Operation("DELETE", "/api/push/{id}", Scope.READ, unsubscribe, PushReply, statuses=(404,)),
)
