"""Answer `display_release`."""

from __future__ import annotations

from acud.protocol.requests.displays import DisplayRelease, DisplayReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: DisplayRelease, call: Call) -> DisplayReply:
    """Give the display back."""
    screen = app.screens.get(request.display)
    app.takeovers.release(screen, request.lease, force=request.force)
    return DisplayReply(app.hosting.taken_info(screen, None))
