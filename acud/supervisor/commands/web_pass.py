"""Answer `web_pass`."""

from __future__ import annotations

from acud.protocol.requests.web import WebPass, WebPassReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: WebPass, call: Call) -> WebPassReply:
    """Return whose secret it is."""
    return WebPassReply(app.passes.of(request.digest))
