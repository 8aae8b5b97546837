"""Answer `web_pass`."""

from __future__ import annotations

from acud.protocol.requests.web_login_redeem import WebPassReply
from acud.protocol.requests.web_pass import WebPass
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: WebPass, call: Call) -> WebPassReply:
    """Return whose secret it is."""
    return WebPassReply(app.passes.of(request.digest))
