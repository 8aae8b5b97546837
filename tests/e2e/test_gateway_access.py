"""Coming in, going out, and what the gateway answers to those who should not be there."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from acud.protocol.web import Scope, digest_of
from acud_client import AsyncClient
from acud_http.request_filter import HEADERS
from acud_web.access import Authenticator, Revocations
from acud_web.daemon_gateway import DaemonGateway
from tests.e2e.cli_support import acud
from tests.e2e.desktop import until
from tests.e2e.gateway_support import SETTINGS, Browser, Foreground, code, served, token
from tests.fixtures.daemon import Daemon

GIB = 2**30
PAGES = ("/dashboard", "/login", "/static/login.js", "/static/style.css")
END_S = 60.0


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with Daemon(settings=SETTINGS + "[http_endpoints]\nenabled = true\nport = 0\n") as running:
        yield running
        assert "Traceback" not in running.log()


@pytest.fixture(scope="module")
def url(daemon: Daemon) -> str:
    return served(daemon)


@pytest.fixture
def browser(url: str) -> Iterator[Browser]:
    with Browser(url) as made:
        yield made


def web_pid(daemon: Daemon) -> int:
    return next(one.pid for one in daemon.client.status().children if one.kind == "web")


def rss_mb(pid: int) -> float:
    line = next(one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


# ---- coming in and going out ----------------------------------------------------------------------------------------


def test_a_link_logs_in_once(daemon: Daemon, browser: Browser) -> None:
    one_time = code(daemon.client, name="desk")
    assert browser.ask("GET", "/api/me")[0] == 401
    opened = browser.login(one_time)
    assert opened.status_code == 200
    assert opened.json()["scope"] == "admin"
    kept = opened.headers["set-cookie"].lower()
    assert all(part in kept for part in ("httponly", "samesite=strict", "path=/", "max-age="))
    assert "secure" not in kept  # plain HTTP: a browser would not send it back
    assert browser.ask("GET", "/api/me")[1]["name"] == "desk"
    with Browser(browser.url) as second:
        assert second.login(one_time).status_code == 401
        assert second.ask("GET", "/api/me")[0] == 401


def test_logging_out_ends_it_here_and_now(daemon: Daemon, browser: Browser) -> None:
    browser.login(code(daemon.client))
    copied = dict(browser.raw.cookies)
    assert browser.ask("POST", "/api/logout", headers=browser.page) == (200, {"ok": True})
    assert dict(browser.raw.cookies) == {}
    browser.raw.cookies.update(copied)
    assert browser.ask("GET", "/api/me")[0] == 401


def test_revoking_every_session_leaves_tokens(daemon: Daemon, browser: Browser) -> None:
    kept, _ = token(daemon.client, Scope.READ)
    browser.login(code(daemon.client))
    daemon.client.web_token_revoke(every="session")
    with Browser(browser.url, kept) as program:
        assert program.ask("GET", "/api/me")[0] == 200

    def is_out() -> bool:
        status = browser.ask("GET", "/api/me")[0]
        assert status in (200, 401)
        return status == 401

    until(is_out, "the end of the session")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"code": 5}', b"{}", b'{"code": ""}', b'{"code": "\\ud800"}'])
def test_what_is_no_code(browser: Browser, body: bytes) -> None:
    head = {**browser.page, "Content-Type": "application/json"}
    status, told = browser.ask("POST", "/api/login", content=body, headers=head)
    assert status in (400, 401)
    assert told["ok"] is False
    assert told["code"]


def test_who_is_wrong_is_throttled_and_who_is_right_is_not(daemon: Daemon) -> None:
    known, _ = token(daemon.client, Scope.READ)
    with Foreground(daemon.home) as running, Browser(running.url) as own:
        assert [own.login("wrong").status_code for _ in range(10)] == [401] * 10
        until(lambda: own.login("wrong").status_code == 429, "the bound: one more is allowed each 6 s")
        assert own.login(code(daemon.client)).status_code == 200
        with Browser(running.url, known) as program:
            assert program.ask("GET", "/api/me")[0] == 200


def test_logging_in_needs_our_page(daemon: Daemon, browser: Browser) -> None:
    one_time = code(daemon.client)
    plain = {"content": f'{{"code": "{one_time}"}}'}
    assert browser.ask("POST", "/api/login", **plain, headers={"Content-Type": "text/plain"})[0] == 415
    assert browser.ask("POST", "/api/login", **plain, headers={"Content-Type": "application/json"})[0] == 403
    foreign = {"X-Acud": "1", "Origin": "https://evil.example", "Content-Type": "application/json"}
    assert browser.ask("POST", "/api/login", **plain, headers=foreign)[0] == 403
    assert browser.login(one_time).status_code == 200


# ---- streams learn that their pass has ended ------------------------------------------------------------------------


def test_what_is_open_hears_of_a_revocation_and_of_an_expiry(daemon: Daemon) -> None:
    async def heard() -> tuple[str, str]:
        async with AsyncClient(daemon.paths, timeout_s=END_S) as client:
            desk = DaemonGateway(client)
            revocations = Revocations(Authenticator(desk))
            hearing = asyncio.create_task(revocations.run(client))
            long = (await client.web_token_create(digest_of("long"))).found
            short = (await client.web_token_create(digest_of("short"), for_s=0.5)).found
            watching = asyncio.create_task(revocations.until_ended(long))
            expired = await asyncio.wait_for(revocations.until_ended(short), END_S)
            assert not watching.done()
            await client.web_token_revoke(long.pass_id)
            revoked = await asyncio.wait_for(watching, END_S)
            hearing.cancel()
            return expired, revoked

    assert asyncio.run(heard()) == ("expired", "revoked")


# ---- every answer ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*PAGES, "/", "/api/me", "/nowhere", "/static/nothing.js"])
def test_every_answer_has_the_headers(browser: Browser, path: str) -> None:
    for head in ({}, {"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        answer = browser.raw.get(path, headers=head)
        for name, value in HEADERS.items():
            if name != "Cache-Control":
                assert answer.headers.get_list(name) == [value], (path, name)
        assert "server" not in answer.headers
        if path.startswith("/api"):
            assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", PAGES)
def test_pages(browser: Browser, path: str) -> None:
    plain = browser.raw.get(path, headers={"Accept-Encoding": "identity"})
    packed = browser.raw.get(path, headers={"Accept-Encoding": "gzip"})
    assert plain.status_code == packed.status_code == 200
    assert plain.content == packed.content
    again = browser.raw.get(path, headers={"If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "<script>" not in plain.text
    assert "style=" not in plain.text  # the policy would refuse both


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "0.0.0.0", ""])
def test_foreign_hosts(browser: Browser, host: str) -> None:
    for path in ("/dashboard", "/api/me"):
        assert browser.raw.get(path, headers={"Host": host}).status_code == 421
    assert browser.socket("/api/me", {"Host": host}) in (400, 421)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_foreign_origins(browser: Browser, daemon: Daemon, origin: str) -> None:
    good, _ = token(daemon.client, Scope.ADMIN)
    head = {"Origin": origin, "Authorization": f"Bearer {good}"}
    for path in ("/dashboard", "/api/me"):
        answer = browser.raw.get(path, headers=head)
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers
    preflight = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    assert browser.raw.options("/api/me", headers=preflight).status_code == 403


# ---- bodies, sockets ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "chunked"),
    [
        ("POST", "/api/login", False),
        ("POST", "/api/login", True),
        ("GET", "/api/me", True),
        ("POST", "/nowhere", False),
    ],
)
def test_a_body_of_1_gib_is_not_taken(daemon: Daemon, browser: Browser, method: str, path: str, chunked: bool) -> None:
    pid = web_pid(daemon)
    before = rss_mb(pid)
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {GIB}"
    kind = "X-Acud: 1\r\nContent-Type: application/json"
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{kind}\r\n{length}\r\n\r\n"
    part = b"100000\r\n" + bytes(2**20) + b"\r\n" if chunked else bytes(2**20)
    with socket.create_connection((browser.host, browser.port), timeout=END_S) as connected:
        connected.sendall(head.encode())
        sent = 0
        try:
            while sent < GIB:
                connected.sendall(part)
                sent += 2**20
        except (ConnectionError, TimeoutError):
            pass  # cut: no more is taken
    assert sent < GIB / 4
    assert rss_mb(pid) < before + 40
    assert browser.raw.get("/dashboard").status_code == 200
    if not chunked and path != "/nowhere":
        answer = browser.exchange(head.encode())
        assert answer.split(b"\r\n")[0].split()[1] in (b"413", b"401")


def test_idle_sockets_hold_nobody_up(browser: Browser) -> None:
    with ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(socket.create_connection((browser.host, browser.port)))
        assert browser.raw.get("/dashboard").status_code == 200


def _read(path: Path) -> bytes:
    """Return what is in a file; nothing of a process, or of a passing file, that has gone."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return path.read_bytes()
    return b""


def test_no_secret_is_kept_or_shown(daemon: Daemon, browser: Browser) -> None:
    one_time = code(daemon.client, name="audit")
    bearer, _ = token(daemon.client, Scope.READ, name="audit")
    assert browser.login(one_time).status_code == 200
    cookie = browser.raw.cookies["acud_session"]
    with Browser(browser.url, bearer) as program:
        assert program.ask("GET", "/api/me")[0] == 200
    files = [path for path in daemon.home.rglob("*") if path.is_file()]
    assert any(path.name == "data.db" for path in files)
    kept = b"".join(map(_read, [*files, *Path("/proc").glob("[0-9]*/cmdline")]))
    kept += repr(daemon.client.events_since(0).events).encode()
    for secret in (one_time, bearer, cookie):
        assert secret.encode() not in kept
    assert digest_of(bearer).encode() in kept


def test_a_relay_token_is_no_pass_and_a_pass_no_relay_token(daemon: Daemon, url: str) -> None:
    relay = until(lambda: daemon.client.status().web.get("relay", ""), "the HTTP endpoints")
    relay_token = (daemon.home / "relay-token").read_text().strip()
    pass_token, _ = token(daemon.client, Scope.ADMIN)
    for address, good, wrong in (
        (f"{url}/api/me", pass_token, relay_token), (f"{relay}/health", relay_token, pass_token),
    ):  # fmt: skip
        for bearer, status in ((good, 200), (wrong, 401)):
            head = {"Authorization": f"Bearer {bearer}"}
            assert httpx.get(address, headers=head, trust_env=False, timeout=60).status_code == status, address


def test_the_command_line(daemon: Daemon, url: str) -> None:
    made = acud(daemon, "web", "token", "create", "--scope", "act", "--name", "robot", "--display", ":7")
    secret = made.stdout.strip()
    assert "act of display :7" in made.stderr
    with Browser(url, secret) as program:
        me = program.ask("GET", "/api/me")[1]
        assert (me["scope"], me["name"], me["displays"]) == ("act", "robot", [":7"])
        assert secret not in acud(daemon, "web", "token", "list").stdout
        assert f"revoked {me['pass_id']}" in acud(daemon, "web", "token", "revoke", me["pass_id"]).stdout
        until(lambda: program.ask("GET", "/api/me")[0] == 401, "the end of the token")
    link = json.loads(acud(daemon, "web", "login", "--scope", "read", "--json").stdout)["url"]
    with Browser(url) as browser:
        assert browser.login(link.partition("#")[2]).json()["scope"] == "read"
        assert "session-" in acud(daemon, "web", "status").stdout
        assert "logged out session-" in acud(daemon, "web", "logout", "--all").stdout
        until(lambda: browser.ask("GET", "/api/me")[0] == 401, "the end of the session")
    assert me["pass_id"] not in {one.pass_id for one in daemon.client.web_token_list().passes}
    assert acud(daemon, "web", "logout").returncode == 2
    assert acud(daemon, "web", "login", "--url", "https://desk.lan/").stdout.startswith("https://desk.lan/login#")
