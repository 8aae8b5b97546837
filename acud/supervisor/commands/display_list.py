"""Answer `display_list`."""

from __future__ import annotations

from acud.protocol.requests.displays import DisplayList, DisplayListReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: DisplayList, call: Call) -> DisplayListReply:
    """Return the displays, those that ended too when asked for."""
    ended = app.hosting.ended() if request.ended else []
    is_set = bool(app.settings.display.default)
    return DisplayListReply((*app.hosting.infos(), *ended), app.hosting.default, is_set)
