"""Answer `web_token_list`."""

from __future__ import annotations

from acud.protocol.requests.web import WebTokenList, WebTokenListReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: WebTokenList, call: Call) -> WebTokenListReply:
    """Return who is let in."""
    return WebTokenListReply(app.passes.all())
