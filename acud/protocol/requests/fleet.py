"""The hosts of a fleet."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.command import DISPLAY_S, Command, FleetRoute
from acud.protocol.requests.displays import DisplayName
from acud.protocol.requests.waits import WaitReply
from acud.types import Labels, WaitSpec
from acud.types.actions import Launch


class FleetHosts(Struct, frozen=True, tag="fleet_hosts", forbid_unknown_fields=True):
    """List every host that ever joined the fleet, with its last report. Asked of a fleet's endpoint (`acud fleet
    serve`), not of a daemon.
    """


class HostInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A host. `life`: `up`; `lost` (its lease ran out without a word); `left` (ended in good order); `foreign` (it
    speaks another protocol); `unproven` (it does not answer, and its entry on the servers has no valid signature).
    `reason`: why it is not asked now. `displays` of `room` are taken; a `draining` host takes nothing new.
    """

    host: str
    life: Literal["up", "lost", "left", "foreign", "unproven"]
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
    """The hosts by name, and the NATS server through which they were read. `processes`: the pids of the endpoint's own
    that serve now, the first one first.
    """

    hosts: tuple[HostInfo, ...]
    server: str
    processes: tuple[int, ...] = ()


class FleetPlace(Struct, frozen=True, tag="fleet_place", forbid_unknown_fields=True):
    """Return the host on which `name` (the id of a task, wait, run or recording) lives; without one, on which host a
    display with these `labels` would be started now. Asked of a fleet's endpoint, not of a daemon.
    """

    name: Annotated[str, Meta(max_length=64)] = ""
    labels: Labels = {}


class FleetPlaceReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The host. `others`: why each other host was not chosen."""

    host: str
    others: dict[str, str] = {}


FleetHost = Annotated[
    str,
    Meta(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", description="a host's name of small letters, digits, '-'"),
]


class FleetDrain(Struct, frozen=True, tag="fleet_drain", forbid_unknown_fields=True):
    """`drain` a host: nothing new is placed there, what is there goes on. `resume` takes that back. `forget` a host
    that will not come back, with what is known of its tasks; its live waits end as `failed`, but for those that can be
    armed again elsewhere (`on_host_lost` = `rearm`). Asked of a fleet's endpoint, not of a daemon.
    """

    host: FleetHost
    action: Literal["drain", "resume", "forget"] = "drain"


class FleetDrainReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The host's state before the request."""

    host: HostInfo


class LostWait(Struct, frozen=True, forbid_unknown_fields=True):
    """A wait that the fleet ended with `host_lost`, or that it armed again elsewhere (`cancelled`): the words of its
    verdict and its end. `sent`: its wake is in the fleet's stream; `seen`: a client fetched the result there.
    """

    wait_id: Annotated[str, Meta(min_length=1, max_length=64)]
    state: Literal["timeout", "failed", "cancelled"]
    detail: str
    message: str
    ended_utc_s: float
    sent: bool = False
    seen: bool = False


class FleetLostWaits(Struct, frozen=True, tag="fleet_lost_waits", forbid_unknown_fields=True):
    """Give a daemon the waits that the fleet ended while the host was lost: the daemon ends them so too. Waits from
    before the daemon's start are held until the first such list: the others go on now, unless `more` follow. Asked by
    the daemon's own fleet process.
    """

    waits: Annotated[tuple[LostWait, ...], Meta(max_length=100)] = ()
    more: bool = False


class FleetLostWaitsReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`otherwise`: those that had ended here in another way before; the daemon keeps that."""

    otherwise: tuple[str, ...] = ()


class DisplayRecipe(Struct, frozen=True, forbid_unknown_fields=True):
    """What makes a managed display again, as `display_create` and `launch` were asked: programs in the order of their
    launch. `lost`: hosts on which its waits were before this one.
    """

    width: int
    height: int
    window_manager: str
    labels: Labels
    programs: tuple[Launch, ...] = ()
    lost: tuple[str, ...] = ()


class FleetRecipe(Struct, frozen=True, tag="fleet_recipe", forbid_unknown_fields=True):
    """Ask a daemon what makes its managed display `display` again, for the fleet to keep. Asked by the daemon's own
    fleet process.
    """

    display: DisplayName


class FleetRecipeReply(Struct, frozen=True, forbid_unknown_fields=True):
    """None where no live wait on it has `on_host_lost` = `rearm`, or where it cannot be made again."""

    recipe: DisplayRecipe | None


class FleetRearm(Struct, frozen=True, tag="fleet_rearm", forbid_unknown_fields=True):
    """Arm the wait `wait_id` of a lost host on the managed `display` of this one, `host`: under its id, with its times,
    and once, however often it is asked. `lost`: the hosts that it was on before, the newest last. Asked by an endpoint.
    """

    wait_id: Annotated[str, Meta(min_length=1, max_length=64)]
    display: DisplayName
    spec: WaitSpec
    created_utc_s: float
    deadline_utc_s: float
    host: FleetHost
    lost: Annotated[tuple[FleetHost, ...], Meta(min_length=1)]


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
        limit_s=DISPLAY_S,
        errors="NotFound; Conflict",
        feature="fleet",
        fleet=FleetRoute.ENDPOINT,
        destroys=True,
    ),
    Command(FleetLostWaits, FleetLostWaitsReply, feature="fleet", fleet=FleetRoute.NEVER, writes=True, destroys=True),
    Command(FleetRecipe, FleetRecipeReply, feature="fleet", fleet=FleetRoute.NEVER),
    Command(
        FleetRearm,
        WaitReply,
        mutating=True,
        begins="waits",
        feature="fleet",
        errors="Conflict for a wait that ended there before; NotFound for a display that is not there; NoJudge",
    ),
)
