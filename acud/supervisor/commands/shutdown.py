"""Answer `shutdown`."""

from __future__ import annotations

import os

from acud.protocol.requests.daemon import Shutdown, ShutdownReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: Shutdown, call: Call) -> ShutdownReply:
    """Begin the end; the reply leaves first."""
    app.journal.event("daemon.stopping", "daemon", keep_displays=request.keep_displays)
    app.journal.after_commit(lambda: app.end(keep_displays=request.keep_displays))
    return ShutdownReply(os.getpid())
