"""The life of a wake: which route is tried when, when to give up, when to remind. Events in, a wake and effects out.

Each route of a wake backs off by itself. Whenever no attempt is under way, the first due route is tried; a route that
fails hands over to the next at once, and is tried again after its pause. Times are UTC seconds that the caller keeps
steady: a stepped wall clock must not move them.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import Conflict
from acud.types import RouteName, RouteTry, WakeInfo, WakeKind, WakeState

TRYING = (WakeState.PENDING, WakeState.REMINDING)
KIND_OF_STATE = {"resolved": WakeKind.RESOLVED, "timeout": WakeKind.TIMEOUT, "failed": WakeKind.FAILED}
"""The ends of a wait that send a wake; a client that cancels a wait needs none."""


class WakeMove(StrEnum):
    """What changes a wake's state."""

    DELIVER = "deliver"
    GIVE_UP = "give up"
    SEE = "see"
    REMIND = "remind"
    RETRY = "retry"


TRANSITIONS: dict[WakeState, dict[WakeMove, WakeState]] = {
    WakeState.PENDING: {
        WakeMove.DELIVER: WakeState.SENT,
        WakeMove.GIVE_UP: WakeState.UNDELIVERED,
        WakeMove.SEE: WakeState.SEEN,
        WakeMove.RETRY: WakeState.PENDING,
    },
    WakeState.SENT: {
        WakeMove.DELIVER: WakeState.SENT,
        WakeMove.REMIND: WakeState.REMINDING,
        WakeMove.SEE: WakeState.SEEN,
        WakeMove.RETRY: WakeState.REMINDING,
    },
    WakeState.REMINDING: {
        WakeMove.DELIVER: WakeState.SENT,
        WakeMove.GIVE_UP: WakeState.SENT,
        WakeMove.SEE: WakeState.SEEN,
        WakeMove.RETRY: WakeState.REMINDING,
    },
    WakeState.UNDELIVERED: {
        WakeMove.DELIVER: WakeState.SENT,
        WakeMove.SEE: WakeState.SEEN,
        WakeMove.RETRY: WakeState.PENDING,
    },
    WakeState.SEEN: {},
}


class IllegalWakeMove(Conflict):
    """A move that the table does not have; `facts` carry the state and the move."""


def move_wake(state: WakeState, move: WakeMove) -> WakeState:
    """Return the state after `move`. Raises: IllegalWakeMove; the caller's state is untouched."""
    after = TRANSITIONS[state].get(move)
    if after is None:
        raise IllegalWakeMove(f"a wake that is {state} cannot {move}", state=str(state), move=str(move))
    return after


class RetryTerms(Struct, frozen=True):
    """The terms of the settings: see `[wake]` in conf/acud.toml."""

    retry_first_s: float
    retry_max_s: float
    retry_for_s: float
    remind_after_s: float
    max_reminders: int


# ---- events --------------------------------------------------------------------------------------------------------


class WakeBegan(Struct, frozen=True):
    """The wake is committed; nothing is under way."""

    at: float


class WakeResumed(Struct, frozen=True):
    """A new supervisor found the wake in the store, and knows neither its routes' state nor its attempt's result."""

    at: float


class WakeTicked(Struct, frozen=True):
    """`next_utc_s` has come."""

    at: float


class AttemptEnded(Struct, frozen=True):
    """An attempt ended. `jitter`: a random number from 0 to 1. `retry_after_s`: what the receiver asked for."""

    at: float
    attempt: int
    route: RouteName
    result: Literal["sent", "retry", "refused"]
    reason: str = ""
    retry_after_s: float = 0.0
    jitter: float = 0.0


class AttemptLost(Struct, frozen=True):
    """The delivery process ended, or fell silent, during the attempt: its result is not known."""

    at: float
    attempt: int
    reason: str


class RouteShut(Struct, frozen=True):
    """The attempt was not made: its route fails for other wakes, and is not tried before `until`."""

    at: float
    attempt: int
    route: RouteName
    until: float
    reason: str


class RouteReopened(Struct, frozen=True):
    """A route that had failed works again."""

    at: float
    route: RouteName


class ResultFetched(Struct, frozen=True):
    """The agent fetched the result that the wake announced."""

    at: float


class RetryRequested(Struct, frozen=True):
    """A client asked to try again, over these routes."""

    at: float
    routes: tuple[RouteName, ...]


WakeEvent = (
    WakeBegan
    | WakeResumed
    | WakeTicked
    | AttemptEnded
    | AttemptLost
    | RouteShut
    | RouteReopened
    | ResultFetched
    | RetryRequested
)

# ---- effects -------------------------------------------------------------------------------------------------------


class SendAttempt(Struct, frozen=True):
    """Try `route`; the outcome comes back with this `attempt`."""

    route: RouteName
    attempt: int


class WakeReport(Struct, frozen=True):
    """An event to publish about a wake: `sent`, `undelivered`, `seen`."""

    topic: Literal["sent", "undelivered", "seen"]


WakeEffect = SendAttempt | WakeReport
WakeStep = tuple[WakeInfo, tuple[WakeEffect, ...]]
"""A wake, and the effects to carry out."""

# ---- the rules -----------------------------------------------------------------------------------------------------


def routes_of(names: tuple[RouteName, ...]) -> tuple[RouteTry, ...]:
    """Return untried routes in this order, each once."""
    return tuple(RouteTry(name) for name in dict.fromkeys(names))


def is_idle(wake: WakeInfo) -> bool:
    """Return whether nothing more will happen to the wake by itself."""
    return wake.state not in TRYING and wake.next_utc_s == 0


def step(wake: WakeInfo, event: WakeEvent, terms: RetryTerms) -> WakeStep:
    """Return the wake after `event`, and the effects. Raises: IllegalWakeMove for a retry of a seen wake."""
    match event:
        case WakeBegan():
            return _try_route(replace(wake, flight=0), event.at, terms)
        case WakeResumed():
            return _resume_wake(wake, event.at, terms)
        case WakeTicked():
            return _handle_tick(wake, event.at, terms)
        case AttemptEnded():
            return _handle_outcome(wake, event, terms)
        case AttemptLost():
            return _handle_loss(wake, event, terms)
        case RouteShut():
            return _shut_route(wake, event, terms)
        case RouteReopened():
            return _reopen_route(wake, event, terms)
        case ResultFetched():
            return _note_seen(wake, event.at)
        case RetryRequested():
            return _retry_wake(wake, event, terms)
    assert_never(event)


def _resume_wake(wake: WakeInfo, at: float, terms: RetryTerms) -> WakeStep:
    if wake.state not in TRYING:
        return wake, ()
    routes = tuple(replace(route, shut=False, not_before_utc_s=route.asked_until_utc_s) for route in wake.routes)
    return _try_again(replace(wake, flight=0, routes=routes), at, terms)


def _try_again(wake: WakeInfo, at: float, terms: RetryTerms) -> WakeStep:
    """Try a first delivery at once; let a reminder wait for its tick, which lets first deliveries go before."""
    if wake.state is WakeState.REMINDING and not wake.flight:
        return replace(wake, next_utc_s=at), ()
    return _try_route(wake, at, terms)


def _try_route(wake: WakeInfo, at: float, terms: RetryTerms) -> WakeStep:
    """Begin the next attempt, set when to look again, or give up; do nothing while an attempt is under way."""
    if wake.state not in TRYING or wake.flight:
        return wake, ()
    open_routes = [route for route in wake.routes if not route.refused]
    end = wake.begun_utc_s + terms.retry_for_s
    if not open_routes or at >= end:
        state = move_wake(wake.state, WakeMove.GIVE_UP)
        reason = wake.reason or "no route is set up: [wake] routes"
        after = replace(wake, state=state, next_utc_s=0.0, reason=reason)
        if state is WakeState.SENT:
            return _schedule_reminder(after, at, terms), ()
        return after, (WakeReport("undelivered"),)
    due = next((route for route in open_routes if route.not_before_utc_s <= at), None)
    if due is None:
        first = min(route.not_before_utc_s for route in open_routes)
        return replace(wake, next_utc_s=min(first, end)), ()
    attempt = wake.attempts + 1
    return replace(wake, flight=attempt, attempts=attempt, next_utc_s=0.0), (SendAttempt(due.name, attempt),)


def _schedule_reminder(wake: WakeInfo, at: float, terms: RetryTerms) -> WakeInfo:
    wanted = wake.wait_id and terms.remind_after_s > 0 and wake.reminders < terms.max_reminders
    return replace(wake, next_utc_s=at + terms.remind_after_s if wanted else 0.0)


def _handle_tick(wake: WakeInfo, at: float, terms: RetryTerms) -> WakeStep:
    if not wake.next_utc_s or at < wake.next_utc_s:
        return wake, ()
    if wake.state is WakeState.SENT:
        return _try_route(_begin_round(wake, at, WakeMove.REMIND), at, terms)
    return _try_route(replace(wake, next_utc_s=0.0), at, terms)


def _begin_round(wake: WakeInfo, at: float, move: WakeMove) -> WakeInfo:
    """Return the wake at the start of a new round over its routes; a sent wake becomes a reminder."""
    state = move_wake(wake.state, move)
    reminders = wake.reminders + (wake.state is WakeState.SENT)
    routes = routes_of(tuple(route.name for route in wake.routes))
    return replace(
        wake, state=state, begun_utc_s=at, next_utc_s=0.0, reminders=reminders, routes=routes, reason="", flight=0
    )


def _handle_outcome(wake: WakeInfo, event: AttemptEnded, terms: RetryTerms) -> WakeStep:
    if event.result == "sent":
        # Note a success, also a late one: the receiver has the wake, whatever became of the attempt meanwhile.
        flight = 0 if event.attempt == wake.flight else wake.flight
        after = replace(wake, flight=flight, sent_utc_s=event.at, sent_by=event.route.value)
        if wake.state is WakeState.SEEN:
            return after, ()
        sent = replace(after, state=move_wake(wake.state, WakeMove.DELIVER), flight=0, reason="")
        return _schedule_reminder(sent, event.at, terms), (WakeReport("sent"),)
    if event.attempt != wake.flight:
        return wake, ()
    routes = tuple(_back_off(route, event, terms) if route.name is event.route else route for route in wake.routes)
    return _try_route(replace(wake, flight=0, routes=routes, reason=event.reason), event.at, terms)


def _back_off(route: RouteTry, event: AttemptEnded, terms: RetryTerms) -> RouteTry:
    tries = route.tries + 1
    pause = max(event.retry_after_s, backoff_s(tries, event.jitter, terms))
    return replace(
        route,
        tries=tries,
        not_before_utc_s=event.at + pause,
        refused=event.result == "refused",
        shut=False,
        reason=event.reason,
        asked_until_utc_s=event.at + event.retry_after_s if event.retry_after_s else 0.0,
    )


def backoff_s(failures: int, jitter: float, terms: RetryTerms) -> float:
    """Return the pause after this many failures: doubled each time up to the limit, times a random 0.5 to 1."""
    whole = terms.retry_max_s
    if failures < 64:
        whole = min(whole, terms.retry_first_s * 2.0 ** (failures - 1))
    return whole * (0.5 + jitter / 2)


def _handle_loss(wake: WakeInfo, event: AttemptLost, terms: RetryTerms) -> WakeStep:
    if event.attempt != wake.flight:
        return wake, ()
    return _try_route(replace(wake, flight=0, reason=event.reason), event.at, terms)


def _shut_route(wake: WakeInfo, event: RouteShut, terms: RetryTerms) -> WakeStep:
    if event.attempt != wake.flight:
        return wake, ()
    routes = tuple(
        replace(route, shut=True, not_before_utc_s=max(event.until, route.not_before_utc_s), reason=event.reason)
        if route.name is event.route
        else route
        for route in wake.routes
    )
    after = replace(wake, flight=0, attempts=wake.attempts - 1, routes=routes, reason=event.reason)
    return _try_route(after, event.at, terms)


def _reopen_route(wake: WakeInfo, event: RouteReopened, terms: RetryTerms) -> WakeStep:
    routes = tuple(_open_route(route, event.at) if route.name is event.route else route for route in wake.routes)
    return (wake, ()) if routes == wake.routes else _try_again(replace(wake, routes=routes), event.at, terms)


def _open_route(route: RouteTry, at: float) -> RouteTry:
    """Return the route as one that works for other wakes. A pause for this wake alone is cut short only once, or a wake
    that its receiver never takes would be tried again, and hold up the others, with each of their deliveries.
    """
    if route.shut:
        return replace(route, shut=False, not_before_utc_s=max(at, route.asked_until_utc_s))
    if route.refused or route.hurried or route.not_before_utc_s <= at:
        return route
    return replace(route, hurried=True, not_before_utc_s=max(at, route.asked_until_utc_s))


def _note_seen(wake: WakeInfo, at: float) -> WakeStep:
    if wake.state is WakeState.SEEN:
        return wake, ()
    after = replace(wake, state=move_wake(wake.state, WakeMove.SEE), seen_utc_s=at, next_utc_s=0.0)
    return after, (WakeReport("seen"),)


def _retry_wake(wake: WakeInfo, event: RetryRequested, terms: RetryTerms) -> WakeStep:
    if wake.flight:
        move_wake(wake.state, WakeMove.RETRY)
        return wake, ()
    fresh = replace(_begin_round(wake, event.at, WakeMove.RETRY), routes=routes_of(event.routes))
    return _try_route(fresh, event.at, terms)


# ---- what goes first -----------------------------------------------------------------------------------------------


class FirstDeliveries(Struct, frozen=True):
    """The routes with first deliveries still to make: to one agent, and (of shut routes) to any."""

    to_agent: frozenset[tuple[str, str, RouteName]] = frozenset()
    shut: frozenset[RouteName] = frozenset()


def first_deliveries(wakes: Iterable[WakeInfo]) -> FirstDeliveries:
    """Return the first deliveries, which go before every reminder. A route that has failed for a wake itself is not
    waited for: that wake has its own pauses, up to a day of them.
    """
    to_agent: set[tuple[str, str, RouteName]] = set()
    shut: set[RouteName] = set()
    for wake in wakes:
        if wake.state is not WakeState.PENDING:
            continue
        for route in wake.routes:
            if not route.refused and (wake.flight or route.shut or not route.tries):
                to_agent.add((wake.address.agent_id, wake.address.session_key, route.name))
            if route.shut:
                shut.add(route.name)
    return FirstDeliveries(frozenset(to_agent), frozenset(shut))


def must_wait(wake: WakeInfo, first: FirstDeliveries) -> bool:
    """Return whether each route that could take this reminder has first deliveries to make before it."""
    agent = wake.address.agent_id, wake.address.session_key
    # A new round tries the routes again that refused in the former one.
    routes = [route.name for route in wake.routes if wake.state is WakeState.SENT or not route.refused]
    return bool(routes) and all(name in first.shut or (*agent, name) in first.to_agent for name in routes)
