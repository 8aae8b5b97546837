"""Answer requests: the hosts of a fleet."""

from __future__ import annotations

from acud.fleet import not_the_endpoint
from acud.protocol.requests.fleet import FleetDrain, FleetHosts, FleetPlace
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.handlers.registry import handles


@handles(FleetHosts)
def fleet_hosts(app: App, request: FleetHosts, call: Call) -> None:
    """Say who answers this: a daemon is one host and does not know the others."""
    raise not_the_endpoint()


@handles(FleetPlace)
def fleet_place(app: App, request: FleetPlace, call: Call) -> None:
    """Say who answers this: a daemon is one host and does not know the others."""
    raise not_the_endpoint()


@handles(FleetDrain)
def fleet_drain(app: App, request: FleetDrain, call: Call) -> None:
    """Say who answers this: a daemon is one host and does not know the others."""
    raise not_the_endpoint()
