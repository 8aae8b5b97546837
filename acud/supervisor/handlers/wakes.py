"""Answers requests about wakes and their delivery."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from acud.base.errors import InvalidRequest, NotFound
from acud.base.ids import is_id
from acud.protocol.delivery import Deliver, Delivered
from acud.protocol.requests.wakes import (
    RouteTest,
    WakeCarry,
    WakeCarryReply,
    WakeList,
    WakeListReply,
    WakeRetry,
    WakeRetryReply,
    WakeSeen,
    WakeSeenReply,
    WakeTest,
    WakeTestReply,
)
from acud.supervisor.app import App
from acud.supervisor.control import Call, handles
from acud.supervisor.coroutines import Callback
from acud.supervisor.delivery import Undone
from acud.types import RouteName, WakeState

_UNSEEN = tuple(state for state in WakeState if state is not WakeState.SEEN)


@handles(WakeList)
def wake_list(app: App, request: WakeList, call: Call) -> WakeListReply:
    """Return the wakes that match the request, newest first."""
    states = request.states or (tuple(WakeState) if request.seen else _UNSEEN)
    part = request.wait_id  # a wake may outlive its wait: a whole id is not looked up
    wait_id = app.waits.find(part).wait_id if part and not is_id(part, "wait") else part
    page = app.store.outbox.newest(states, request.limit, wait_id, request.offset)
    failing = {name.value: reason for name, reason in app.delivery.find_failing().items()}
    wakes = tuple(map(app.wakes.find_newest, page.wakes))
    health = app.delivery.describe_health(app.clock.instant().utc_s)
    return WakeListReply(wakes, page.total, app.settings.wake.routes, failing, health)


_MOST = 1000


@handles(WakeRetry)
def wake_retry(app: App, request: WakeRetry, call: Call) -> WakeRetryReply:
    """Begin a new round over the routes of each wake."""
    if request.undelivered == bool(request.wake_ids):
        raise InvalidRequest("name the wakes to try again, or say undelivered", hint="acud wake list shows them")
    if request.undelivered:
        found = app.store.outbox.newest((WakeState.UNDELIVERED,), _MOST).wakes
    else:
        found = tuple(map(app.store.outbox.find, request.wake_ids))
    return WakeRetryReply(tuple(map(app.wakes.retry, found)))


@handles(WakeTest)
def wake_test(app: App, request: WakeTest, call: Call) -> None:
    """Send a test over every route, side by side; answer when the last has ended."""
    routes = tuple(dict.fromkeys(request.routes or request.address.routes or app.settings.wake.routes))
    if not routes:
        raise InvalidRequest("no route is set up", hint="set routes in [wake], or name one to test")
    app.wakes.check(replace(request.address, routes=routes))
    results: dict[RouteName, RouteTest] = {}

    def on_outcome(route: RouteName, end: Delivered | Undone) -> None:
        results[route] = _to_route_test(route, end)
        if len(results) == len(routes):
            call.reply(WakeTestReply(tuple(results[name] for name in routes)))

    for route in routes:
        app.wakes.send_test(route, request.address, call.later(partial(on_outcome, route)))


def _to_route_test(route: RouteName, end: Delivered | Undone) -> RouteTest:
    if isinstance(end, Undone):
        return RouteTest(route, "unknown", end.reason)
    return RouteTest(route, end.result, end.reason, end.ms)


@handles(WakeSeen)
def answer_wake_seen(app: App, request: WakeSeen, call: Call) -> WakeSeenReply:
    return WakeSeenReply(tuple(wake_id for wake_id in request.wake_ids if not _mark_seen(app, wake_id)))


def _mark_seen(app: App, wake_id: str) -> bool:
    try:
        app.wakes.mark_wake_seen(wake_id)
    except NotFound:
        return False
    return True


@handles(WakeCarry)
async def wake_carry(app: App, request: WakeCarry, call: Call) -> WakeCarryReply:
    """Try one route after the other; answer with the first that took it, or when none did."""
    routes = app.settings.wake.own_routes
    if not routes:
        raise InvalidRequest("no route but fleet is set up here", hint="set routes in [wake], or leave carry empty")
    is_refused, reason = True, ""
    for attempt, route in enumerate(routes, 1):
        delivery = Deliver(
            wake_id=request.wake.id,
            attempt=attempt,
            route=route,
            kind=request.wake.kind,
            text=request.wake.text,
            created_utc_s=request.wake.created_utc_s,
            wait_id=request.wake.wait_id,
            task_id=request.wake.task_id,
            session_key=request.wake.session_key,
            agent_id=request.wake.agent_id,
            run_id=request.wake.run_id,
        )
        outcome = await Callback[Delivered | Undone](partial(app.delivery.submit, delivery))
        if isinstance(outcome, Delivered) and outcome.result == "sent":
            return WakeCarryReply("sent", route)
        is_refused = is_refused and isinstance(outcome, Delivered) and outcome.result == "refused"
        reason = f"{route.value}: {outcome.reason}"
    return WakeCarryReply("refused" if is_refused else "retry", None, reason)
