"""Deliveries of wakes."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.command import ROUTE_S, Command, FleetRoute
from acud.protocol.wakes import SharedWake
from acud.types import RouteName, WakeAddress, WakeInfo, WakeState
from acud.types.displays import MAX_NUMBER


class WakeList(Struct, frozen=True, tag="wake_list", forbid_unknown_fields=True):
    """List wakes, newest first: those not seen yet, or those in `states`, or all with `seen`; of one wait with
    `wait_id`. From the `offset`th on.
    """

    states: tuple[WakeState, ...] = ()
    seen: bool = False
    wait_id: Annotated[str, Meta(max_length=64)] = ""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    offset: Annotated[int, Meta(ge=0, le=MAX_NUMBER)] = 0


class RouteHealth(Struct, frozen=True, forbid_unknown_fields=True):
    """How a route has done since the daemon started. `sent`: deliveries that it took; `sent_utc_s`: the last of them
    (0: none). `last_ms`: what that one took, and `median_ms` the newest of them, 64 at most. `failures`: how many in a
    row it failed to take or refused (0: it took the newest). `host`: in a fleet, its host.
    """

    route: RouteName
    sent: int = 0
    sent_utc_s: float = 0.0
    last_ms: float = 0.0
    median_ms: float = 0.0
    failures: int = 0
    host: str = ""


class WakeListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`total`: how many there are before offset and limit. `routes`: those in the settings, in order. `failing`: routes
    with a failed newest delivery, and the reason. `health`: of each route that is set up or was tried.
    """

    wakes: tuple[WakeInfo, ...]
    total: int
    routes: tuple[RouteName, ...]
    failing: dict[str, str] = {}
    health: tuple[RouteHealth, ...] = ()


WakeId = Annotated[str, Meta(min_length=1, max_length=64)]


class WakeRetry(Struct, frozen=True, tag="wake_retry", forbid_unknown_fields=True):
    """Try the wakes `wake_ids` (unique beginnings or endings are enough) again now, or every undelivered one with
    `undelivered`.

    Routes are those set up now. One that was sent goes out as a marked reminder.
    """

    wake_ids: Annotated[tuple[WakeId, ...], Meta(max_length=1000)] = ()
    undelivered: bool = False


class WakeRetryReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The wakes that are tried again, in their present state."""

    wakes: tuple[WakeInfo, ...]


class WakeTest(Struct, frozen=True, tag="wake_test", forbid_unknown_fields=True):
    """Send a test over each of `routes` (empty: those in the settings), once, whatever the others return; it is not
    kept.

    `address` names session and agent; its own routes count when `routes` is empty.
    """

    routes: Annotated[tuple[RouteName, ...], Meta(max_length=8)] = ()
    address: WakeAddress = WakeAddress()


class RouteTest(Struct, frozen=True, forbid_unknown_fields=True):
    """How a route did. `unknown`: the delivery process ended over it."""

    route: RouteName
    result: Literal["sent", "retry", "refused", "unknown"]
    reason: str = ""
    ms: float = 0.0


class WakeTestReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The result of each route, in order."""

    tests: tuple[RouteTest, ...]


_Id = Annotated[str, Meta(min_length=1, max_length=64)]


class WakeSeen(Struct, frozen=True, tag="wake_seen", forbid_unknown_fields=True):
    """Note that the agents of these wakes (whole ids) took them: they are `seen`, and no reminder follows."""

    wake_ids: Annotated[tuple[_Id, ...], Meta(min_length=1, max_length=1000)]


class WakeSeenReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`unknown`: ids of which no wake is kept here (any more)."""

    unknown: tuple[str, ...] = ()


class WakeCarry(Struct, frozen=True, tag="wake_carry", forbid_unknown_fields=True):
    """Try the routes in the settings but `fleet`, in order, until one takes `wake`; nothing of it is kept here."""

    wake: SharedWake


class WakeCarryReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`sent` by `route`; otherwise no route took it, with the last one's reason. `refused`: none will ever take it."""

    result: Literal["sent", "retry", "refused"]
    route: RouteName | None = None
    reason: str = ""


COMMANDS = (
    Command(WakeList, WakeListReply, fleet=FleetRoute.ALL),
    Command(WakeRetry, WakeRetryReply, mutating=True, positional=1, errors="Conflict for one that was seen"),
    Command(WakeTest, WakeTestReply, deferred=True, limit_s=ROUTE_S, positional=1, writes=True),
    Command(WakeSeen, WakeSeenReply, mutating=True),
    Command(WakeCarry, WakeCarryReply, deferred=True, limit_s=ROUTE_S, writes=True),
)
