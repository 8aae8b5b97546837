"""`fleet_place`: where something lives, or would be placed."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.fleet import Labels
from acud.protocol.requests.spec import RequestSpec


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


SPEC = RequestSpec(FleetPlace, FleetPlaceReply)
