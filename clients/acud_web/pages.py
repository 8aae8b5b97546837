"""The pages with their files, and how a browser comes in, goes out, and learns what it may do.

Files are listed and read once, at the start; nothing of a request becomes a path.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from acud.base.errors import NotFound
from acud.protocol.requests.web import WebLoginRedeem, WebPassReply, WebTokenListReply, WebTokenRevoke
from acud.protocol.web import AccessToken, Scope, digest_of, new_secret
from acud_http.errors import answer, wrong
from acud_web.access import COOKIE, UNKNOWN_AT_ONCE, LoginThrottle, access_token_of, address_of, wrong_try
from acud_web.route_table import Row, json_object, text

_FOLDER = Path(__file__).parent / "static"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
_WORKER = "push.js"
"""The service worker; it is to speak for the dashboard, which lies outside of its folder."""
_PACKED = frozenset({".png", ".woff2"})
"""Kinds that are compressed already."""


class Page(Struct, frozen=True):
    """One file. `packed`: the same in gzip, b"" where that is no shorter."""

    kind: str
    data: bytes
    packed: bytes
    etag: str


def read_all(folder: Path = _FOLDER) -> dict[str, Page]:
    """Return every file of `folder` that has a known kind, by its name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in _KINDS)
    return {path.relative_to(folder).as_posix(): _read_page(path) for path in files}


def _read_page(path: Path) -> Page:
    data = path.read_bytes()
    if path.suffix == ".js":  # comments and types are for developers; lines keep their numbers
        data = b"\n".join(_without_comments(data))
    packed = b"" if path.suffix in _PACKED else gzip.compress(data, mtime=0)
    digest = hashlib.sha256(data).hexdigest()[:32]
    return Page(_KINDS[path.suffix], data, packed if len(packed) < len(data) else b"", f'W/"{digest}"')


def _without_comments(script: bytes) -> Iterator[bytes]:
    """Yield the lines of `script`, those that are comments empty; no text of several lines looks like a comment."""
    is_open = False
    for line in script.split(b"\n"):
        words = line.strip()
        is_begin = words.startswith(b"/**") and words.find(b"*/") in (-1, len(words) - 2)  # no code behind it
        yield b"" if is_open or is_begin or words.startswith(b"//") else line
        is_open = (is_open or is_begin) and not words.endswith(b"*/")


_PAGES = read_all()


async def static(request: Request) -> Response:
    return _answer_page(request, request.path_params["name"])


async def dashboard(request: Request) -> Response:
    """Return the dashboard's page, which holds no data."""
    return _answer_page(request, "index.html")


async def login_page(request: Request) -> Response:
    """Return the page that a login link opens."""
    return _answer_page(request, "login.html")


async def alive(_request: Request) -> Response:
    """Answer that the gateway serves; nothing more, because any client may ask."""
    return answer({"ok": True})


async def root(_request: Request) -> Response:
    """Send a browser to the dashboard."""
    return RedirectResponse("/dashboard", 303)


def _answer_page(request: Request, name: str) -> Response:
    page = _PAGES.get(name)
    if page is None:
        raise wrong(404, "not_found", "nothing is served here")
    # Asked about each time (an update of acud must not mix with old files), and answered without the bytes.
    headers = {"Cache-Control": "no-cache", "ETag": page.etag, "Vary": "Accept-Encoding"}
    if name == _WORKER:
        headers["Service-Worker-Allowed"] = "/dashboard"
    if page.etag in (part.strip() for part in request.headers.get("if-none-match", "").split(",")):
        return Response(status_code=304, headers=headers)
    if page.packed and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(page.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=page.kind)
    return Response(page.data, headers=headers, media_type=page.kind)


_BODY_BYTES = 1024
_TRIES, _AGAIN_S = 10, 6.0

_throttle = LoginThrottle(_TRIES, _AGAIN_S)
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
        raise wrong_try(_throttle, address_of(request), told) from found
    return _with_cookie(request, answer(opened), secret, opened)


async def logout(request: Request) -> Response:
    """End this session here and now. Raises: Fault 409 for a token, which its maker revokes."""
    mine = access_token_of(request)
    if mine.kind != "session":
        raise wrong(409, "conflict", "a token has no session to end", "acud web token revoke")
    await request.state.gateway.ask(WebTokenRevoke(mine.pass_id), WebTokenListReply)
    request.state.admission.forget(mine.pass_id)
    gone = answer({"ok": True})
    gone.delete_cookie(COOKIE, path="/", secure=_is_tls(request), httponly=True, samesite="strict")
    return gone


async def me(request: Request) -> Response:
    return answer(access_token_of(request))


def _with_cookie(request: Request, response: Response, secret: str, token: AccessToken) -> Response:
    response.set_cookie(
        COOKIE,
        secret,
        max_age=max(1, int(token.expires_utc_s - time.time())),
        path="/",
        secure=_is_tls(request),
        httponly=True,
        samesite="strict",
    )
    return response


def _is_tls(request: Request) -> bool:
    return bool(request.scope["scheme"] == "https")


ROUTES = (
    Row("GET", "/", root, None),
    Row("GET", "/dashboard", dashboard, None),
    Row("GET", "/login", login_page, None),
    Row("GET", "/healthz", alive, None),
    Row("GET", "/static/{name:path}", static, None),
    Row("POST", "/api/login", login, None, _BODY_BYTES),
    Row("POST", "/api/logout", logout, Scope.READ, 0),
    Row("GET", "/api/me", me, Scope.READ),
)
