"""The hosts of a fleet."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.fleet import Labels
from acud.protocol.requests.command import Command, FleetRoute


class FleetHosts(Struct, frozen=True, tag="fleet_hosts", forbid_unknown_fields=True):
    """List every host that ever joined the fleet, with what it said last. Asked of a fleet's endpoint (`acud fleet
    serve`), not of a daemon.
    """


class HostInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A host. `life`: `up`; `lost` (its lease ran out without a word); `left` (ended in good order); `foreign` (it
    speaks another protocol). `reason`: why it is not asked now. `displays` of `room` are taken; a `draining` host takes
    nothing new.
    """

    host: str
    life: Literal["up", "lost", "left", "foreign"]
    reason: str
    labels: Labels
    displays: int
    room: int
    load: float
    live_waits: int
    draining: bool
    version: str
    protocol: int
    last_utc_s: float


class FleetHostsReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The hosts by name, and the NATS server through which they were read."""

    hosts: tuple[HostInfo, ...]
    server: str


class FleetPlace(Struct, frozen=True, tag="fleet_place", forbid_unknown_fields=True):
    """Tell on which host `name` (the id of a task, wait, run or recording) lives; without one, on which host a display
    with these `labels` would be started now. Asked of a fleet's endpoint, not of a daemon.
    """

    name: Annotated[str, Meta(max_length=64)] = ""
    labels: Labels = {}


class FleetPlaceReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The host. `others`: why each other one is not it."""

    host: str
    others: dict[str, str] = {}


FleetHost = Annotated[
    str,
    Meta(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", description="a host's name of small letters, digits, '-'"),
]


class FleetDrain(Struct, frozen=True, tag="fleet_drain", forbid_unknown_fields=True):
    """`drain` a host: nothing new is placed there, what is there goes on. `resume` takes that back. `forget` a host
    that will not come back, with what is known of its tasks; its live waits end as `failed`. Asked of a fleet's
    endpoint, not of a daemon.
    """

    host: FleetHost
    action: Literal["drain", "resume", "forget"] = "drain"


class FleetDrainReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The host as it was before."""

    host: HostInfo


class LostWait(Struct, frozen=True, forbid_unknown_fields=True):
    """A wait that the fleet ended with `host_lost`: the words of its verdict and its end. `sent`: its wake is in the
    fleet's stream; `seen`: somebody fetched the result there.
    """

    wait_id: Annotated[str, Meta(min_length=1, max_length=64)]
    state: Literal["timeout", "failed"]
    detail: str
    message: str
    ended_utc_s: float
    sent: bool = False
    seen: bool = False


class FleetLostWaits(Struct, frozen=True, tag="fleet_lost_waits", forbid_unknown_fields=True):
    """Tell a daemon which of its waits the fleet ended while its host was lost: they end so here as well. Others whose
    deadline had passed before the daemon started were held for this word, and time out now, unless `more` follow.
    Asked by the daemon's own fleet process.
    """

    waits: Annotated[tuple[LostWait, ...], Meta(max_length=100)] = ()
    more: bool = False


class FleetLostWaitsReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`otherwise`: those that had ended here in another way before; the daemon keeps that."""

    otherwise: tuple[str, ...] = ()


COMMANDS = (
    Command(FleetHosts, FleetHostsReply, feature="fleet", fleet=FleetRoute.ENDPOINT),
    Command(
        FleetPlace,
        FleetPlaceReply,
        positional=1,
        errors="NotFound; Refused when no host would do",
        feature="fleet",
        fleet=FleetRoute.ENDPOINT,
    ),
    Command(
        FleetDrain,
        FleetDrainReply,
        positional=2,
        errors="NotFound; Conflict",
        feature="fleet",
        fleet=FleetRoute.ENDPOINT,
        destroys=True,
    ),
    Command(FleetLostWaits, FleetLostWaitsReply, feature="fleet", fleet=FleetRoute.NEVER, writes=True, destroys=True),
)
