"""`wake_carry`: bring a wake of another host over this host's routes."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.wakes import SharedWake
from acud.types import RouteName


class WakeCarry(Struct, frozen=True, tag="wake_carry", forbid_unknown_fields=True):
    """Try the routes in the settings but `fleet`, in order, until one takes `wake`; nothing of it is kept here."""

    wake: SharedWake


class WakeCarryReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`sent` by `route`; or none took it, and why the last did not. `refused`: none of them ever will, as it is."""

    result: Literal["sent", "retry", "refused"]
    route: RouteName | None = None
    reason: str = ""


SPEC = RequestSpec(WakeCarry, WakeCarryReply, deferred=True)
