"""`wake_test`: try the routes by hand."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.types import RouteName, WakeAddress


class WakeTest(Struct, frozen=True, tag="wake_test", forbid_unknown_fields=True):
    """Send a test over each of `routes` (empty: those in the settings), once, whatever the others say; it is not kept.

    `address` names session and agent; its own routes count when `routes` is empty.
    """

    routes: Annotated[tuple[RouteName, ...], Meta(max_length=8)] = ()
    address: WakeAddress = WakeAddress()


class RouteTest(Struct, frozen=True, forbid_unknown_fields=True):
    """How a route did. `unknown`: the relay ended over it."""

    route: RouteName
    result: Literal["sent", "retry", "refused", "unknown"]
    reason: str = ""
    ms: float = 0.0


class WakeTestReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Every route's result, in order."""

    tests: tuple[RouteTest, ...]


SPEC = RequestSpec(WakeTest, WakeTestReply, deferred=True)
