"""Answer `daemon_drain`."""

from __future__ import annotations

from acud.protocol.requests.daemon import DaemonDrain, DaemonDrainReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: DaemonDrain, call: Call) -> DaemonDrainReply:
    """Begin to drain, move its end, or take it back."""
    return app.upkeep.draining.ask(request)
