"""`fleet_hosts`: the hosts of the fleet."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from acud.fleet import Labels
from acud.protocol.requests.spec import RequestSpec


class FleetHosts(Struct, frozen=True, tag="fleet_hosts", forbid_unknown_fields=True):
    """List every host that ever joined the fleet. Asked of a fleet's endpoint (`acud fleet serve`), not of a daemon."""


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


SPEC = RequestSpec(FleetHosts, FleetHostsReply)
