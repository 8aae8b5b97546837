"""Access tokens, tries, the limit of connections, and what a request carries: rules without a socket."""

import asyncio
import time
from typing import Literal, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import HTTPConnection

from acud.base.errors import NotFound
from acud.protocol.requests.web import WebPass, WebPassReply
from acud.protocol.web import AccessToken, Scope, digest_of, new_secret
from acud_http.errors import HttpFault
from acud_http.request_filter import ServerNames
from acud_http.server import ConnectionLimit
from acud_web.access import Authenticator, Credential, LoginThrottle, find_credentials, wrong_try
from acud_web.daemon_gateway import DaemonGateway


def make(scope: Scope = Scope.READ, displays: tuple[str, ...] = (), tasks: tuple[str, ...] = ()) -> AccessToken:
    return AccessToken("token-1", "token", "", scope, displays, tasks)


@pytest.mark.parametrize(("scope", "allowed"), [
    (Scope.READ, {Scope.READ}), (Scope.WAIT, {Scope.READ, Scope.WAIT}),
    (Scope.ACT, {Scope.READ, Scope.WAIT, Scope.ACT}), (Scope.ADMIN, set(Scope)),
])  # fmt: skip
def test_each_scope_includes_the_one_before(scope: Scope, allowed: set[Scope]) -> None:
    assert {one for one in Scope if make(scope).allows(one)} == allowed


def test_without_limits_everything_is_seen() -> None:
    found = make()
    assert found.unlimited
    assert found.sees_display(":1")
    assert found.sees_task("t")
    assert found.sees()
    assert found.sees(":1", "t")


def test_limits_are_exact() -> None:
    found = make(displays=(":1",), tasks=("task-a",))
    assert not found.unlimited
    assert found.sees_display(":1")
    assert not found.sees_display(":10")
    assert not found.sees_display("")
    assert found.sees_task("task-a")
    assert not found.sees_task("task-")
    assert found.sees(display=":2", task_id="task-a")
    assert found.sees(display=":1", task_id="task-b")
    assert not found.sees(display=":2", task_id="task-b")
    assert not found.sees()


def test_a_pass_for_a_task_sees_no_display_by_name() -> None:
    assert not make(tasks=("task-a",)).sees_display(":1")
    assert not make(displays=(":1",)).sees_task("task-a")


@given(st.sampled_from(Scope), st.lists(st.text(max_size=4)), st.lists(st.text(max_size=4)), st.text(max_size=4))
def test_a_limit_never_shows_more(scope: Scope, displays: list[str], tasks: list[str], name: str) -> None:
    limited = make(scope, tuple(displays), tuple(tasks))
    assert make(scope).sees(name, name)
    assert limited.sees(name, name) == (limited.unlimited or name in displays or name in tasks)


def test_expiry() -> None:
    assert not make().is_expired(1e12)
    ending = AccessToken("s", "session", "", Scope.READ, expires_utc_s=100.0)
    assert not ending.is_expired(99.9)
    assert ending.is_expired(100.0)


def test_secrets_are_long_and_differ_and_their_digests_are_no_way_back() -> None:
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert all(len(one) == 43 and one not in digest_of(one) for one in secrets)
    assert digest_of("\ud800") != digest_of("")


def test_tries_run_out_and_come_back() -> None:
    tries = LoginThrottle(3, 2.0)
    for _ in range(3):
        assert tries.wait_s("a", 10.0) == 0
        tries.note_wrong("a", 10.0)
    assert tries.wait_s("a", 10.0) == 2.0
    assert tries.wait_s("b", 10.0) == 0
    assert tries.wait_s("a", 12.0) == 0
    tries.note_wrong("a", 12.0)
    assert tries.wait_s("a", 12.0) == 2.0
    assert tries.wait_s("a", 1000.0) == 0


def test_only_the_wrong_are_told_to_slow_down_and_no_flood_makes_it_worse() -> None:
    tries, fault = LoginThrottle(3, 1000.0), HttpFault(401, {"ok": False})
    assert [wrong_try(tries, "a", fault) for _ in range(3)] == [fault] * 3
    for _ in range(100):
        told = wrong_try(tries, "a", fault)
        assert isinstance(told, HttpFault)
        assert told.status == 429
    assert tries.wait_s("a", time.monotonic()) <= 1000.0
    assert wrong_try(tries, "b", fault) is fault


class OnePass:
    """A daemon that knows one secret."""

    def __init__(self, kind: Literal["token", "session"] = "token") -> None:
        self.kind = kind

    async def ask(self, request: WebPass, kind: object) -> WebPassReply:
        if request.digest != digest_of("right"):
            raise NotFound("unknown")
        return WebPassReply(msgspec.structs.replace(make(), kind=self.kind))


def test_a_right_token_is_let_in_whoever_else_was_wrong() -> None:
    def asking(secret: str) -> HTTPConnection:
        head = [(b"authorization", b"Bearer " + secret.encode())]
        return HTTPConnection({"type": "http", "headers": head, "client": ("127.0.0.1", 1)})

    async def asked() -> tuple[set[int], AccessToken]:
        admission = Authenticator(cast(DaemonGateway, OnePass()))
        wrong = await asyncio.gather(*(admission.admit(asking("wrong")) for _ in range(500)), return_exceptions=True)
        return {one.status for one in wrong if isinstance(one, HttpFault)}, await admission.admit(asking("right"))

    told, admitted = asyncio.run(asked())
    assert told == {401, 429}
    assert admitted == make()


def test_tries_forget_addresses_and_never_grow() -> None:
    tries = LoginThrottle(1, 1e9)
    for number in range(5000):
        tries.note_wrong(str(number), 0.0)
    assert len(tries._spent) <= 1024
    assert tries.wait_s("4999", 0.0) > 0


class Guest:
    def __init__(self, *, is_idle: bool = True) -> None:
        self.is_idle = is_idle
        self.gone = False

    def make_room(self) -> None:
        self.gone = True


def test_the_oldest_idle_one_makes_room() -> None:
    limit = ConnectionLimit(10, 3)
    busy, old, young = Guest(is_idle=False), Guest(), Guest()
    assert all(limit.enter(guest, "a") for guest in (busy, old, young))
    assert limit.enter(Guest(), "a")
    assert (busy.gone, old.gone, young.gone) == (False, True, False)
    assert len(limit) == 3


def test_where_all_are_busy_the_newest_is_refused() -> None:
    limit = ConnectionLimit(10, 2)
    guests = [Guest(is_idle=False) for _ in range(2)]
    assert all(limit.enter(guest, "a") for guest in guests)
    assert not limit.enter(Guest(), "a")
    assert limit.enter(Guest(), "b")
    assert limit.refused == 1
    limit.leave(guests[0])
    limit.leave(guests[0])
    assert limit.enter(Guest(), "a")


def test_there_is_a_limit_over_all_addresses() -> None:
    limit = ConnectionLimit(2, 2)
    first = Guest()
    assert limit.enter(first, "a")
    assert limit.enter(Guest(is_idle=False), "b")
    assert limit.enter(Guest(), "c")
    assert first.gone
    assert len(limit) == 2


def test_a_websocket_keeps_the_place_of_its_request() -> None:
    limit = ConnectionLimit(2, 2)
    before, after = Guest(), Guest(is_idle=False)
    assert limit.enter(before, "a")
    limit.hand_over(before, after)
    limit.leave(before)
    assert len(limit) == 1
    limit.leave(after)
    assert len(limit) == 0


def _session(secret: str) -> Credential:
    return Credential("session", secret)


def list_credentials(*headers: tuple[str, str]) -> list[Credential]:
    return find_credentials({"headers": [(name.encode(), value.encode()) for name, value in headers]})


@pytest.mark.parametrize(("headers", "found"), [
    ([], []), ([("authorization", "Bearer abc")], [Credential("token", "abc")]),
    ([("Authorization", "bearer  abc ")], [Credential("token", "abc")]), ([("authorization", "Basic abc")], []),
    ([("authorization", "Bearer")], []), ([("authorization", "Bearer " + "a" * 300)], []),
    ([("authorization", "Bearer a"), ("authorization", "Bearer b")], []),
    ([("authorization", "Basic x"), ("cookie", "acud_session=abc")], []),
    ([("cookie", "a=b; acud_session=abc; c=d")], [Credential("session", "abc")]),
    ([("cookie", "acud_session=abc"), ("cookie", "acud_session=def")], [*map(_session, ("abc", "def"))]),
    ([("cookie", "acud_session=abc; acud_session=def; acud_session=abc")], [*map(_session, ("abc", "def"))]),
    ([("cookie", "; ".join(f"acud_session={at}" for at in range(9)))], [*map(_session, "0123")]),
    ([("cookie", "acud_session=")], []), ([("cookie", "xacud_session=abc")], []),
])  # fmt: skip
def test_what_a_request_carries(headers: list[tuple[str, str]], found: list[Credential]) -> None:
    assert list_credentials(*headers) == found


def test_a_session_cookie_of_another_program_keeps_nobody_out() -> None:
    def asking(cookies: str) -> HTTPConnection:
        head = [(b"cookie", cookies.encode())]
        return HTTPConnection({"type": "http", "method": "GET", "headers": head, "client": ("127.0.0.1", 1)})

    async def asked() -> AccessToken:
        admission = Authenticator(cast(DaemonGateway, OnePass("session")))
        for _ in range(20):  # more often than a wrong secret may be tried
            found = await admission.admit(asking("acud_session=of-another; acud_session=right"))
        return found

    assert asyncio.run(asked()).kind == "session"


@pytest.mark.parametrize(("host", "ok"), [
    ("127.0.0.1:18790", True), ("LOCALHOST", True), ("[::1]:80", True), ("desk.lan", True),
    ("desk.lan:18790", True), ("0.0.0.0:18790", False), ("evil.example", False), ("127.0.0.1.evil.example", False),
    ("localhost:80:80", False), ("user@localhost", False), ("", False),
])  # fmt: skip
def test_hosts(host: str, ok: bool) -> None:
    names = ServerNames("0.0.0.0", ("desk.lan",), ())
    assert (names.host({"headers": [(b"host", host.encode())]}) is not None) == ok


def test_origins() -> None:
    names = ServerNames("127.0.0.1", (), ("https://hud.test",))
    assert names.may([], "localhost:1", "http")
    assert names.may(["http://localhost:1"], "localhost:1", "http")
    assert names.may(["https://hud.test"], "localhost:1", "http")
    assert not names.may(["http://localhost:2"], "localhost:1", "http")
    assert not names.may(["https://localhost:1"], "localhost:1", "http")
    assert names.may(["https://localhost:1"], "localhost:1", "https")
    assert not names.may(["null"], "localhost:1", "http")
    assert not names.may(["http://localhost:1", "http://localhost:1"], "localhost:1", "http")
    assert names.shares(["https://hud.test"])
    assert not names.shares(["http://localhost:1"])
