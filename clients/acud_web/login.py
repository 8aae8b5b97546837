"""/api/login, /api/logout and /api/me: how a browser comes in, goes out, and learns what it may do."""

from __future__ import annotations

import asyncio
import time

from starlette.requests import Request
from starlette.responses import Response

from acud.errors import NotFound
from acud.protocol.requests.web import WebLoginRedeem, WebPassReply, WebTokenListReply, WebTokenRevoke
from acud.protocol.web import AccessToken, Scope, digest_of, new_secret
from acud_web.access import COOKIE, UNKNOWN_AT_ONCE, Tries, address_of, pass_of, wrong_try
from acud_web.errors import answer, wrong
from acud_web.route_table import Row, json_object, text

_BODY_BYTES = 1024
_TRIES, _AGAIN_S = 10, 6.0

_tries = Tries(_TRIES, _AGAIN_S)
_unknown = asyncio.Semaphore(UNKNOWN_AT_ONCE)


async def login(request: Request) -> Response:
    """Open a session for a one-time code, and set its cookie."""
    if request.headers.get("x-acud") != "1":
        raise wrong(403, "origin", "logging in needs the header X-Acud: 1")
    code = text("code", (await json_object(request, _BODY_BYTES)).get("code"))
    secret = new_secret()
    try:
        asked = WebLoginRedeem(digest_of(code), digest_of(secret))
        async with _unknown:
            opened = (await request.state.gateway.ask(asked, WebPassReply)).found
    except NotFound as found:
        told = wrong(401, "unauthorized", found.message, found.hint)
        raise wrong_try(_tries, address_of(request), told) from found
    return _with_cookie(request, answer(opened), secret, opened)


async def logout(request: Request) -> Response:
    """End this session here and now. Raises: Fault 409 for a token, which its maker revokes."""
    mine = pass_of(request)
    if mine.kind != "session":
        raise wrong(409, "conflict", "a token has no session to end", "acud web token revoke")
    await request.state.gateway.ask(WebTokenRevoke(mine.pass_id), WebTokenListReply)
    request.state.admission.forget(mine.pass_id)
    gone = answer({"ok": True})
    gone.delete_cookie(COOKIE, path="/", secure=_is_tls(request), httponly=True, samesite="strict")
    return gone


async def me(request: Request) -> Response:
    """Return the access token."""
    return answer(pass_of(request))


def _with_cookie(request: Request, response: Response, secret: str, opened: AccessToken) -> Response:
    response.set_cookie(
        COOKIE,
        secret,
        max_age=max(1, int(opened.expires_utc_s - time.time())),
        path="/",
        secure=_is_tls(request),
        httponly=True,
        samesite="strict",
    )
    return response


def _is_tls(request: Request) -> bool:
    return bool(request.scope["scheme"] == "https")


ROUTES = (
    Row("POST", "/api/login", login, None, _BODY_BYTES),
    Row("POST", "/api/logout", logout, Scope.READ, 0),
    Row("GET", "/api/me", me, Scope.READ),
)
