"""The fleet process seen from the supervisor: started when `[fleet] url` names a server, and tried again when it cannot
join. If it fails, the daemon goes on as a single host.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from acud.base import log
from acud.base.errors import NotFound, Refused
from acud.config import Settings
from acud.config.fleet import not_the_endpoint
from acud.process.event_loop import EventLoop
from acud.protocol.bootstrap import FleetOptions
from acud.protocol.delivery import Delivered
from acud.protocol.fleet import FleetHello, FleetNews
from acud.protocol.fleet_ends import HOST_LOST, REARMED
from acud.protocol.requests.daemon import Finding
from acud.protocol.requests.fleet import (
    FleetDrain,
    FleetHosts,
    FleetLostWaits,
    FleetLostWaitsReply,
    FleetPlace,
    FleetRearm,
    FleetRecipe,
    FleetRecipeReply,
    LostWait,
)
from acud.protocol.requests.waits import WaitReply
from acud.supervisor.children import Child, ChildKeeper, Message
from acud.supervisor.control import Call, handles
from acud.supervisor.core import Core
from acud.supervisor.delivery import DeliveryProcess
from acud.supervisor.feature import RunningFeature
from acud.supervisor.optional_child import OptionalChild
from acud.supervisor.publisher import DaemonEvents
from acud.supervisor.waits.creation import check_rearm_wish
from acud.types import RouteName, WaitState, unknown
from acud.waits.effects import FleetEnd

_LOG = log.logger("fleet")
_WAIT = "wait a moment; acud logs --level error"
_UNREACHED = "start nats-server, or see [fleet] url"


class Fleet(OptionalChild):
    """Owns the fleet process, if the settings want one."""

    def __init__(
        self,
        keeper: ChildKeeper,
        loop: EventLoop,
        settings: Settings,
        home: Path,
        delivery: DeliveryProcess,
        events: DaemonEvents,
    ) -> None:
        """`delivery` hands wakes of the route `fleet` to this process, if it is wanted."""
        self.settings = settings.fleet
        wake = settings.wake
        options = FleetOptions(settings.fleet, str(home), wake.carry, sum(map(wake.places, wake.own_routes)))
        super().__init__(keeper, loop, "fleet", "acud_fleet", options, events)
        self.host = ""
        """This host's name in the fleet, once its process has reported it."""
        self.connected = False
        self.server = ""
        self.warnings: tuple[tuple[str, str], ...] = ()
        """Faults of servers that answer, each with its fix."""
        self._delivery = delivery
        if self.wanted:
            delivery.set_carrier(RouteName.FLEET, self.child, "the fleet process has not reached a server yet")

    @property
    def wanted(self) -> bool:
        """Whether this host is to be in a fleet."""
        return bool(self.settings.urls)

    @property
    def signatures(self) -> str:
        """Whether messages have to be signed."""
        return "checked" if self.settings.admin_keys else "not checked: [fleet] admin_key is empty"

    def start(self) -> None:
        """Start the fleet process, if the settings want one."""
        if self.wanted:
            self.begin()

    def describe_state(self) -> dict[str, str]:
        """Return this host's state in the fleet; empty without one."""
        if not self.wanted:
            return {}
        state = f"connected to {self.server}" if self.connected else self.fault or "starting"
        told = {"host": self.host, "state": state, "signatures": self.signatures}
        return told | ({"warning": "; ".join(text for text, _ in self.warnings)} if self.warnings else {})

    def handle_message(self, child: Child, message: Message) -> None:
        """Handle a message about the process and its connection."""
        if isinstance(message, FleetHello):
            self.host, self.fault, self.fix = message.host, "", ""
        elif isinstance(message, Delivered):
            self._delivery.handle_outcome(message)
        elif isinstance(message, FleetNews):
            self.warnings = message.warnings
            if message.connected and self.server == message.text:
                return  # still there
            self.connected = message.connected
            self.server = message.text if message.connected else ""
            self.fault, self.fix = ("", "") if message.connected else (message.text, _UNREACHED)
            _LOG.info("fleet.news", connected=message.connected, text=message.text)
            if message.connected:
                self._delivery.carrier_came(RouteName.FLEET)
            else:
                self._delivery.carrier_went(RouteName.FLEET, message.text)

    def on_lost(self, reason: str) -> None:
        """Note that this host is in no fleet now."""
        self.connected, self.server, self.warnings = False, "", ()
        self._delivery.carrier_went(RouteName.FLEET, f"the fleet process ended: {reason}")


class FleetFeature(RunningFeature):
    """This daemon as a host of a fleet."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.waits = core.waits
        self._fleet = Fleet(core.keeper, core.loop, core.settings, core.paths.home, core.delivery, core.daemon_events)

    def start(self) -> None:
        """Join, where a fleet is named."""
        self._fleet.start()

    def status(self) -> dict[str, str]:
        return self._fleet.describe_state()

    def reasons(self) -> Iterator[str]:
        """Yield why this host is in no fleet."""
        if self._fleet.fault:
            yield f"fleet: {self._fleet.fault}"

    def findings(self) -> Iterator[Finding]:
        """Yield the state of the connection, and faults of the fleet."""
        fleet = self._fleet
        if not fleet.wanted:
            return
        if fleet.settings.in_the_clear:
            where = ", ".join(fleet.settings.in_the_clear)
            text = f"talks to {where} without TLS: pictures are sent in the clear"
            yield Finding("fleet", "warning", text, "tls:// URLs")
        if fleet.settings.nkey_seed_file and not fleet.settings.admin_keys:
            text = "believes whatever the servers say: nobody's signature is checked"
            yield Finding("fleet", "warning", text, "[fleet] admin_key; docs/scaling.md, Signatures")
        for text, fix in fleet.warnings:
            yield Finding("fleet", "warning", text, fix)
        if fleet.connected:
            yield Finding("fleet", "ok", f"host {fleet.host}, connected to {fleet.server}")
        else:
            text = fleet.fault or "its process is being started"
            yield Finding("fleet", "fault", f"not in the fleet: {text}", fleet.fix or _WAIT)


start = FleetFeature


@handles(FleetHosts)
def fleet_hosts(feature: FleetFeature, request: FleetHosts, call: Call) -> None:
    """Refuse: a daemon is one host and does not know the others."""
    raise not_the_endpoint()


@handles(FleetPlace)
def fleet_place(feature: FleetFeature, request: FleetPlace, call: Call) -> None:
    """Refuse: a daemon is one host and does not know the others."""
    raise not_the_endpoint()


@handles(FleetDrain)
def fleet_drain(feature: FleetFeature, request: FleetDrain, call: Call) -> None:
    """Refuse: a daemon is one host and does not know the others."""
    raise not_the_endpoint()


@handles(FleetLostWaits)
def fleet_lost_waits(feature: FleetFeature, request: FleetLostWaits, call: Call) -> FleetLostWaitsReply:
    """End the waits as the fleet did, and let those go on that were held for its list."""
    otherwise = tuple(one.wait_id for one in request.waits if not _ended_as_told(feature, one))
    if not request.more:
        feature.core.wait_runtime.deadlines.release_all()
    return FleetLostWaitsReply(otherwise)


def _ended_as_told(feature: FleetFeature, wait: LostWait) -> bool:
    end = FleetEnd(WaitState(wait.state), wait.ended_utc_s, wait.message, wait.sent, wait.seen)
    code = REARMED if end.state is WaitState.CANCELLED else HOST_LOST
    try:
        return feature.waits.end_by_fleet(wait.wait_id, unknown(code, wait.detail), end)
    except NotFound:
        return True  # it is kept here no more, and has no other end


@handles(FleetRecipe)
def fleet_recipe(feature: FleetFeature, request: FleetRecipe, call: Call) -> FleetRecipeReply:
    """Return what makes the display again on another host, if waits on it may move there."""
    core = feature.core
    lost = core.waits.lost_hosts(request.display)
    if lost is None:
        return FleetRecipeReply(None)
    try:
        recipe = core.displays.build_recipe(request.display, core.program_launcher)
    except (NotFound, Refused) as fault:
        _LOG.warning("fleet.no_recipe", display=request.display, fault=fault.message)
        return FleetRecipeReply(None)
    return FleetRecipeReply(replace(recipe, lost=lost))


@handles(FleetRearm)
def fleet_rearm(feature: FleetFeature, request: FleetRearm, call: Call) -> WaitReply:
    """Arm a wait of a lost host here."""
    core, spec = feature.core, request.spec
    watched = core.watched_displays.get(request.display)
    core.wakes.check(spec.wake)
    core.waits.check_judged(spec.until, spec.judge, force=False)
    check_rearm_wish(core, spec.policy, spec.until, spec.target, watched)
    return WaitReply(core.waits.rearm(request, watched), (), core.wakes.routes_of(spec.wake))
