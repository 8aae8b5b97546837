"""Answer `web_token_create`."""

from __future__ import annotations

from acud.protocol.requests.web import WebPassReply, WebTokenCreate
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: WebTokenCreate, call: Call) -> WebPassReply:
    """Make a token."""
    return WebPassReply(app.passes.create(request))
