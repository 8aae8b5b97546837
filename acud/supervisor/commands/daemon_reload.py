"""Answer `daemon_reload`."""

from __future__ import annotations

from acud.protocol.requests.daemon import DaemonReload, DaemonReloadReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: DaemonReload, call: Call) -> DaemonReloadReply:
    """Read the settings again."""
    return app.upkeep.reloading.reload()
