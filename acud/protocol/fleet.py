"""Messages between the hosts of a fleet, and between a host's fleet process and its supervisor; see docs/scaling.md."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from acud.protocol.children import Fault, Heartbeat, Stop
from acud.protocol.delivery import Deliver, Delivered
from acud.protocol.requests.fleet import DisplayRecipe
from acud.types import Labels


class HostState(Struct, frozen=True, forbid_unknown_fields=False):
    """A host's own report, renewed while it lives. Fields of newer versions are ignored, so that a host with another
    protocol can still be named.

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
    """Where the object `name` lives, and its state in its host's last report: `info` is its encoded struct (b"":
    unknown).

    Of a wait that an endpoint ended because its host was lost (`by_fleet`), `info` stands from then on. `sent`: its
    wake is in the stream of wakes; `seen`: a client fetched the result from an endpoint. One that is armed again on
    another host has no such wake: `moved_to` is its display there (`host/:100`), and `sent` means that it is armed
    there.

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
    """The fleet process runs as `host`; `FleetNews` reports whether it has reached a server."""

    pid: int
    host: str


class FleetNews(Struct, frozen=True, tag="fleet_news", forbid_unknown_fields=True):
    """The connection came or went, or the warnings changed. `text`: to which server, or why there is none. `warnings`:
    faults of servers that answer, each with its fix.
    """

    connected: bool
    text: str
    warnings: tuple[tuple[str, str], ...] = ()


# A `Deliver` is a wake for the stream of wakes; `Delivered` reports whether the stream acknowledged it.
ToFleet = Deliver | Stop
FromFleet = Heartbeat | Fault | FleetHello | FleetNews | Delivered
