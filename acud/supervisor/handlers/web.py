"""Answers requests about logins and access tokens of the gateway."""

from __future__ import annotations

from acud.protocol.requests.web import (
    WebLogin,
    WebLoginRedeem,
    WebLoginReply,
    WebPass,
    WebPassReply,
    WebTokenCreate,
    WebTokenList,
    WebTokenListReply,
    WebTokenRevoke,
)
from acud.supervisor.app import App
from acud.supervisor.control import Call, handles


@handles(WebLogin)
def web_login(app: App, request: WebLogin, call: Call) -> WebLoginReply:
    return WebLoginReply(app.access_tokens.login(request))


@handles(WebLoginRedeem)
def web_login_redeem(app: App, request: WebLoginRedeem, call: Call) -> WebPassReply:
    return WebPassReply(app.access_tokens.redeem(request.code, request.session))


@handles(WebTokenCreate)
def web_token_create(app: App, request: WebTokenCreate, call: Call) -> WebPassReply:
    return WebPassReply(app.access_tokens.create(request))


@handles(WebTokenList)
def web_token_list(app: App, request: WebTokenList, call: Call) -> WebTokenListReply:
    return WebTokenListReply(app.access_tokens.all())


@handles(WebTokenRevoke)
def web_token_revoke(app: App, request: WebTokenRevoke, call: Call) -> WebTokenListReply:
    return WebTokenListReply(app.access_tokens.revoke(request.pass_id, request.every))


@handles(WebPass)
def web_pass(app: App, request: WebPass, call: Call) -> WebPassReply:
    """Return the token or session that a secret belongs to."""
    return WebPassReply(app.access_tokens.find_by_digest(request.digest))
