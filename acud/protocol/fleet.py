"""What hosts of a fleet tell each other and their own supervisors; see docs/scaling.md."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from acud.protocol.children import Fault, Heartbeat, Stop
from acud.protocol.delivery import Deliver, Delivered
from acud.protocol.requests.fleet import DisplayRecipe
from acud.types import Labels


class HostState(Struct, frozen=True, forbid_unknown_fields=False):
    """One host, as it says itself; renewed while it lives. Fields of newer versions are passed over, so that a host
    whose protocol differs can still be told by name.

    `displays`: managed ones, those being started included; `room`: how many there may be. `load`: of the last minute,
    by core. `instance`: of this run of its daemon; `place`: of the folder of that daemon, alike for the next run there
    while the machine is up. `left`: it was ended in good order. `server`: the host and port of the NATS server that it
    is connected to. `rearm`: it takes waits of lost hosts in.
    """

    host: str
    instance: str
    labels: Labels
    displays: int
    room: int
    load: float
    version: str
    protocol: int
    utc_s: float
    live_waits: int = 0
    left: bool = False
    place: str = ""
    server: str = ""
    rearm: bool = False


class ObjectPlace(Struct, frozen=True, forbid_unknown_fields=False):
    """Where the object `name` lives, and how it stood when its host last told: `info` is its encoded struct (b"":
    unknown).

    Of a wait that an endpoint ended because its host was lost (`by_fleet`), `info` stands from then on. `sent`: its
    wake is in the stream of wakes; `seen`: somebody fetched the result from an endpoint. One that is armed again on
    another host has no such wake: `moved_to` is its display there (`host/:100`), and `sent` says that it is armed.

    Of a display on which waits with `on_host_lost` = `rearm` look, `recipe` makes it again.
    """

    host: str
    kind: Literal["task", "wait", "display", "recording", "run", "request"]
    name: str
    utc_s: float
    info: bytes = b""
    by_fleet: bool = False
    sent: bool = False
    seen: bool = False
    moved_to: str = ""
    recipe: DisplayRecipe | None = None


# ---- fleet process -> supervisor -----------------------------------------------------------------------------------


class FleetHello(Struct, frozen=True, tag="fleet_hello", forbid_unknown_fields=True):
    """The fleet process runs as `host`; `FleetNews` says whether it has reached a server."""

    pid: int
    host: str


class FleetNews(Struct, frozen=True, tag="fleet_news", forbid_unknown_fields=True):
    """The connection came or went, or what is to be warned of changed. `text`: to which server, or why there is none.
    `warnings`: what is wrong on the servers though they answer, each with what mends it.
    """

    connected: bool
    text: str
    warnings: tuple[tuple[str, str], ...] = ()


# A `Deliver` is a wake for the stream of wakes; `Delivered` tells whether the stream acknowledged it.
ToFleet = Deliver | Stop
FromFleet = Heartbeat | Fault | FleetHello | FleetNews | Delivered
