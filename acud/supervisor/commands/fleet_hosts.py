"""Answer `fleet_hosts`."""

from __future__ import annotations

from acud.protocol.requests.fleet import FleetHosts
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.fleet import not_the_endpoint


def handle(app: App, request: FleetHosts, call: Call) -> None:
    """Say who answers this: a daemon is one host and does not know the others."""
    raise not_the_endpoint()
