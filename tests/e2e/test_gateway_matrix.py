"""Every route of the gateway with every kind of access token: taken from the route table, so that none can be
forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from msgspec import Struct

from acud.protocol.web import Scope, digest_of, new_secret
from acud_web.application import ROWS
from acud_web.route_table import Row
from tests.e2e.desktop import until
from tests.e2e.gateway_support import SETTINGS, Browser, code, served, token
from tests.fixtures.daemon import Daemon

GUARDED = [row for row in ROWS if row.scope is not None]
IDS = [f"{row.method} {row.path}" for row in GUARDED]
PUBLIC = {
    *(("GET", path) for path in ("/", "/dashboard", "/login", "/static/{name:path}", "/healthz")),
    ("POST", "/api/login"),
}
"""What anybody may ask for; none of it holds data."""
NOWHERE = "task-00000000000000000000001"
MARK = "zebra-crossing"
"""In the title of the task that limited access tokens must not see."""
LEAST = {"result": {"peek": True}, "change": {"timeout_s": 0}}
"""By the end of its path what a request says, which would tell the daemon that it was seen, or take 10 s."""
TRAVERSALS = (
    "..%2f..%2fetc%2fpasswd", "%2e%2e", "..%5c..", "%00", "a" * 3000, "-rf", "%7e", "%F0%9F%92%A9", "'%20OR%201",
)  # fmt: skip


class Bench(Struct):
    """A served daemon with a display and a task, and one access token of each kind."""

    url: str
    display: str
    task_id: str
    passes: dict[str, str]
    session: str
    browser: Browser


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Daemon(settings=SETTINGS) as daemon:
        client = daemon.client
        display = client.display_create(64, 48).display.name
        task = client.task_register(MARK, isolated_display=False).view.task.task_id
        passes = {scope.value: token(client, scope)[0] for scope in Scope}
        passes["wrong"] = new_secret()
        passes["expired"] = token(client, Scope.ADMIN, for_s=0.001)[0]
        passes["revoked"], revoked = token(client, Scope.ADMIN)
        client.web_token_revoke(revoked.pass_id)
        limits = {"displays": (":9999",), "tasks": ("task-00000000000000000000000",)}
        passes["elsewhere"] = token(client, Scope.ADMIN, **limits)[0]
        session = new_secret()
        client.web_login_redeem(digest_of(code(client)), digest_of(session))
        passes["session"] = session
        url = served(daemon)
        with Browser(url) as browser:
            yield Bench(url, display, task, passes, session, browser)
        assert "Traceback" not in daemon.log()
        assert [one for one in [*passes.values(), session] if one in daemon.log()] == []


def path_of(row: Row, bench: Bench) -> str:
    """Return the path with the real display and task in their places; ids that name nothing where it changes them."""
    display, task = (bench.display, bench.task_id) if row.method in ("GET", "WS") else (":9998", NOWHERE)
    names = {"display": display, "name": display, "id": task, "task_id": task}
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda found: names.get(found[1], "1"), row.path)


def status(row: Row, bench: Bench, bearer: str = "", head: dict[str, str] | None = None) -> int:
    return asked(row, path_of(row, bench), bench, bearer, head)[0]


def refusal(row: Row, bench: Bench, bearer: str = "", head: dict[str, str] | None = None) -> int:
    """Return the status of a wrong try, once it may be made: a fast machine makes more than the throttle takes."""
    return until(lambda: (found := status(row, bench, bearer, head)) != 429 and found, "a try")


def asked(row: Row, path: str, bench: Bench, bearer: str = "", head: dict[str, str] | None = None) -> tuple[int, bytes]:
    given = {"Authorization": f"Bearer {bearer}"} if bearer else {}
    if row.method == "WS":
        return bench.browser.socket(path, given | (head or {})), b""
    body = {"json": LEAST.get(row.path.rpartition("/")[2], {})} if row.has_body else {}
    found = bench.browser.first(row.method, path, headers=given | (head or {}), **body)
    bench.browser.raw.cookies.clear()
    return found


def test_only_these_are_public() -> None:
    assert {(row.method, row.path) for row in ROWS if row.scope is None} == PUBLIC


def test_without_an_access_token_health_says_only_that_it_is_alive(bench: Bench) -> None:
    with Browser(bench.url) as browser:
        assert browser.ask("GET", "/healthz") == (200, {"ok": True})
        assert browser.ask("GET", "/api/health")[0] == 401


def test_no_route_is_there_twice() -> None:
    assert len({(row.method, row.path) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", GUARDED, ids=IDS)
def test_no_pass_that_is_good(bench: Bench, row: Row) -> None:
    assert refusal(row, bench) == 401
    for kind in ("wrong", "expired", "revoked", "session"):  # the secret of a session is no token
        assert refusal(row, bench, bench.passes[kind]) == 401, kind
    as_cookie = {"Cookie": f"acud_session={bench.passes['admin']}", "X-Acud": "1", "Origin": bench.url}
    assert refusal(row, bench, head=as_cookie) == 401  # nor a token a session


@pytest.mark.parametrize("row", GUARDED, ids=IDS)
def test_scopes(bench: Bench, row: Row) -> None:
    order = list(Scope)
    for scope in order[: order.index(row.scope)]:
        assert status(row, bench, bench.passes[scope.value]) == 403, scope
    found, body = asked(row, path_of(row, bench), bench, bench.passes[row.scope.value])
    assert found not in (401, 500)
    assert found != 403 or b'"forbidden"' not in body


@pytest.mark.parametrize("row", GUARDED, ids=IDS)
def test_a_pass_for_another_display_and_another_task_sees_nothing_of_this(bench: Bench, row: Row) -> None:
    found, body = asked(row, path_of(row, bench), bench, bench.passes["elsewhere"])
    assert found not in (401, 500)
    if "{" in row.path:
        assert found in (403, 404)
    for secret in (MARK, bench.task_id, f'"{bench.display}"'):
        assert secret.encode() not in body


@pytest.mark.parametrize("row", GUARDED, ids=IDS)
def test_a_cookie_without_what_only_our_pages_send(bench: Bench, row: Row) -> None:
    cookie = {"Cookie": f"acud_session={bench.session}"}
    foreign = {"Origin": "https://evil.example", "X-Acud": "1"}
    assert status(row, bench, head=cookie | foreign) == 403
    if row.method == "GET":
        return
    assert status(row, bench, head=cookie) == 403
    assert status(row, bench, head=cookie | {"X-Acud": "1"}) == 403 or row.method == "WS"
    if row.method != "WS":
        assert status(row, bench, head=cookie | {"Origin": bench.url}) == 403


@pytest.mark.parametrize("row", [row for row in ROWS if "{" in row.path], ids=lambda row: f"{row.method} {row.path}")
def test_traversal_in_every_id(bench: Bench, row: Row) -> None:
    for odd in TRAVERSALS:
        path = re.sub(r"\{[^}]+\}", odd, row.path)
        found, body = asked(row, path, bench, bench.passes["admin"])
        assert found in (400, 403, 404, 405, 413, 414, 422), (path, found)
        assert b"root:" not in body
