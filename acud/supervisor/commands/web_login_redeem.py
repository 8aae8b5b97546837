"""Answer `web_login_redeem`."""

from __future__ import annotations

from acud.protocol.requests.web import WebLoginRedeem, WebPassReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: WebLoginRedeem, call: Call) -> WebPassReply:
    """Spend the code for a session."""
    return WebPassReply(app.passes.redeem(request.code, request.session))
