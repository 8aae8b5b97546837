"""Answer `web_login`."""

from __future__ import annotations

from acud.protocol.requests.web import WebLogin, WebLoginReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: WebLogin, call: Call) -> WebLoginReply:
    """Keep the code."""
    return WebLoginReply(app.passes.login(request))
