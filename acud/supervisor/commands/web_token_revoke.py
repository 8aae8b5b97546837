"""Answer `web_token_revoke`."""

from __future__ import annotations

from acud.protocol.requests.web import WebTokenListReply, WebTokenRevoke
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: WebTokenRevoke, call: Call) -> WebTokenListReply:
    """Revoke, and return what was revoked."""
    return WebTokenListReply(app.passes.revoke(request.pass_id, request.every))
