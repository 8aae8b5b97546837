"""The pages and their files: listed and read once, at the start; nothing of a request becomes a path."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from acud_web.errors import wrong
from acud_web.route_table import Row

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
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix in _KINDS)
    return {path.name: _read(path) for path in files}


def _read(path: Path) -> Page:
    data = path.read_bytes()
    packed = b"" if path.suffix in _PACKED else gzip.compress(data, mtime=0)
    digest = hashlib.sha256(data).hexdigest()[:32]
    return Page(_KINDS[path.suffix], data, packed if len(packed) < len(data) else b"", f'W/"{digest}"')


_PAGES = read_all()


async def static(request: Request) -> Response:
    """Return a file by its name."""
    return _answer(request, request.path_params["name"])


async def dashboard(request: Request) -> Response:
    """Return the dashboard's page, which holds no data."""
    return _answer(request, "index.html")


async def login(request: Request) -> Response:
    """Return the page that a login link opens."""
    return _answer(request, "login.html")


async def root(_request: Request) -> Response:
    """Send a browser to the dashboard."""
    return RedirectResponse("/dashboard", 303)


def _answer(request: Request, name: str) -> Response:
    page = _PAGES.get(name)
    if page is None:
        raise wrong(404, "not_found", "nothing is served here")
    # ApiRequest about each time (an update of acud must not mix with old files), and answered without the bytes.
    headers = {"Cache-Control": "no-cache", "ETag": page.etag, "Vary": "Accept-Encoding"}
    if name == _WORKER:
        headers["Service-Worker-Allowed"] = "/dashboard"
    if page.etag in (part.strip() for part in request.headers.get("if-none-match", "").split(",")):
        return Response(status_code=304, headers=headers)
    if page.packed and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(page.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=page.kind)
    return Response(page.data, headers=headers, media_type=page.kind)


ROUTES = (
    Row("GET", "/", root, None),
    Row("GET", "/dashboard", dashboard, None),
    Row("GET", "/login", login, None),
    Row("GET", "/static/{name}", static, None),
)
