"""Who gets in: every combination of Host, Origin and token, with and without a token asked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from tests.e2e.cli_support import acud
from tests.e2e.conftest import BARE
from tests.e2e.listener_support import Foreground, Http
from tests.fixtures.daemon import Daemon

ALLOWED = {
    "ACU_HTTP_ENDPOINTS_ALLOWED_HOSTS": "hud.test",
    "ACU_HTTP_ENDPOINTS_ALLOWED_ORIGINS": "http://localhost:3000,null",
}
HOSTS = {"127.0.0.1:{port}": True, "localhost": True, "[::1]:1": True, "hud.test:80": True}
FOREIGN_HOSTS = {"evil.example": False, "127.0.0.1.evil.example": False, "evil.example:{port}": False, "": False}
ORIGINS = {None: True, "http://{host}": True, "http://localhost:3000": True, "null": True}
FOREIGN_ORIGINS = {"http://evil.example": False, "http://localhost:3001": False, "file://": False, "": False}
TOKENS = {"Bearer {token}": True, "bearer {token}": True}
WRONG_TOKENS = {None: False, "Bearer": False, "Bearer x{token}": False, "Basic {token}": False, "{token}": False}


DAEMON_SETTINGS = BARE


@pytest.fixture(scope="module")
def guarded(daemon: Daemon) -> Iterator[Http]:
    with Foreground(daemon.home, settings=ALLOWED) as running:
        yield running.http


@pytest.fixture(scope="module")
def open_to_all(daemon: Daemon) -> Iterator[Http]:
    with Foreground(daemon.home, "--allow-tokenless", settings=ALLOWED) as running:
        assert "no token asked for" in running.said
        yield running.http


def ask(http: Http, host: str, origin: str | None, bearer: str | None, method: str = "GET", token: str = "") -> bytes:
    """Return the raw answer to a request with just these headers."""
    host = host.format(port=http.port)
    lines = [f"{method} /agent/config HTTP/1.1", f"Host: {host}", "Connection: close"]
    lines += [] if origin is None else [f"Origin: {origin.format(host=host)}"]
    lines += [] if bearer is None else [f"Authorization: {bearer.format(token=token or http.token)}"]
    return http.exchange("\r\n".join([*lines, "", ""]).encode(), until_closed=True)


def status(answer: bytes) -> int:
    return int(answer.split()[1])


MATRIX = list(
    itertools.product(
        (HOSTS | FOREIGN_HOSTS).items(), (ORIGINS | FOREIGN_ORIGINS).items(), (TOKENS | WRONG_TOKENS).items()
    )
)


def test_the_matrix_with_a_token(guarded: Http) -> None:
    for (host, host_ok), (origin, origin_ok), (bearer, bearer_ok) in MATRIX:
        wanted = 421 if not host_ok else 403 if not origin_ok else 401 if not bearer_ok else 200
        answer = ask(guarded, host, origin, bearer)
        assert status(answer) == wanted, (host, origin, bearer)
        assert guarded.token.encode() not in answer


def test_the_matrix_without_a_token(open_to_all: Http, guarded: Http) -> None:
    for (host, host_ok), (origin, origin_ok), (bearer, _) in MATRIX:
        wanted = 421 if not host_ok else 403 if not origin_ok else 200
        assert status(ask(open_to_all, host, origin, bearer, token=guarded.token)) == wanted, (host, origin, bearer)


def test_doubled_headers_are_refused(guarded: Http) -> None:
    start, end = b"GET /health HTTP/1.1\r\nHost: localhost\r\n", b"Connection: close\r\n\r\n"
    bearer = b"Authorization: Bearer " + guarded.token.encode() + b"\r\n"
    assert status(guarded.exchange(start + bearer + end)) == 200
    assert status(guarded.exchange(start + bearer + bearer + end)) == 401
    assert status(guarded.exchange(start + b"Origin: null\r\nOrigin: http://evil.example\r\n" + bearer + end)) == 403
    # Two hosts are no HTTP at all (RFC 9112, 3.2).
    assert status(guarded.exchange(start + b"Host: evil.example\r\n" + bearer + end)) in (400, 421)


def test_a_plain_post_of_a_foreign_page_changes_nothing(open_to_all: Http) -> None:
    headers = {"Origin": "http://evil.example", "Content-Type": "text/plain"}
    assert open_to_all.ask("POST", "/feed", content=b'{"text":"from a page"}', headers=headers)[0] == 403
    texts = [one["text"] for one in open_to_all.get("/feed")[1]["messages"]]
    assert "from a page" not in texts


def test_an_allowed_page_may_ask_and_read(guarded: Http) -> None:
    origin = {"Origin": "http://localhost:3000"}
    asked = {**origin, "Access-Control-Request-Method": "POST", "Authorization": ""}
    preflight = guarded.raw.request("OPTIONS", "/feed", headers=asked)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "http://localhost:3000"
    assert "authorization" in preflight.headers["access-control-allow-headers"]
    read = guarded.raw.get("/health", headers=origin)
    assert read.headers["access-control-allow-origin"] == "http://localhost:3000"
    assert read.headers["vary"] == "Origin"


def test_a_foreign_page_gets_no_preflight(guarded: Http, open_to_all: Http) -> None:
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    for http in (guarded, open_to_all):
        answer = http.raw.request("OPTIONS", "/feed", headers=asked)
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers


def test_the_token_is_made_once_and_private(daemon: Daemon, guarded: Http) -> None:
    kept = daemon.home / "relay-token"
    assert kept.stat().st_mode & 0o777 == 0o600
    with Foreground(daemon.home) as second:
        assert second.http.token == guarded.token
        assert second.http.get("/health")[0] == 200


def test_a_token_of_ones_own(daemon: Daemon, tmp_path: Path) -> None:
    own = tmp_path / "token"
    own.write_text("correct-horse-battery\n")
    with Foreground(daemon.home, settings={"ACU_HTTP_ENDPOINTS_TOKEN_FILE": str(own)}) as running:
        assert status(ask(running.http, "localhost", None, "Bearer {token}")) == 401
        assert status(ask(running.http, "localhost", None, "Bearer correct-horse-battery")) == 200


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (("--host", "0.0.0.0"), {}, "not loopback"),
        (("--host", "::"), {}, "not loopback"),
        (("--host", "example.invalid"), {}, "not loopback"),
        (("--host", "0.0.0.0", "--allow-remote", "--allow-tokenless"), {}, "loopback only"),
        ((), {"ACU_HTTP_ENDPOINTS_TOKEN": "short"}, "at least 16"),
        ((), {"ACU_HTTP_ENDPOINTS_ALLOWED_HOSTS": "*"}, "allowed_hosts"),
        ((), {"ACU_HTTP_ENDPOINTS_ALLOWED_ORIGINS": "*"}, "allowed_origins"),
        ((), {"ACU_HTTP_ENDPOINTS_TOKEN_FILE": "/nowhere/token"}, "/nowhere/token"),
    ],
)
def test_what_would_let_strangers_in_is_refused(
    daemon: Daemon, arguments: tuple[str, ...], settings: dict[str, str], said: str
) -> None:
    with mock.patch.dict(daemon.env, settings):
        done = acud(daemon, "web", "relay", "--port", "0", *arguments)
    assert done.returncode != 0
    assert said in done.stderr
    assert "short" not in done.stderr


def test_a_remote_bind_by_explicit_choice(daemon: Daemon) -> None:
    with Foreground(daemon.home, "--host", "0.0.0.0", "--allow-remote") as running:
        answer = ask(running.http, "127.0.0.1:{port}", None, "Bearer {token}")
        assert status(answer) == 200
        assert status(ask(running.http, "0.0.0.0:{port}", None, "Bearer {token}")) == 421
