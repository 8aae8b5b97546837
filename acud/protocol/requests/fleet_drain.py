"""`fleet_drain`: a host takes nothing new."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.fleet_hosts import HostInfo
from acud.protocol.requests.spec import RequestSpec

FleetHost = Annotated[str, Meta(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]


class FleetDrain(Struct, frozen=True, tag="fleet_drain", forbid_unknown_fields=True):
    """`drain` a host: nothing new is placed there, what is there goes on. `resume` takes that back. `forget` a host
    that will not come back, with what is known of its tasks and waits. Asked of a fleet's endpoint, not of a daemon.
    """

    host: FleetHost
    action: Literal["drain", "resume", "forget"] = "drain"


class FleetDrainReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The host as it was before."""

    host: HostInfo


SPEC = RequestSpec(FleetDrain, FleetDrainReply)
