"""Web Push of a whole daemon: a browser's keys in the test, and a push service on loopback that decrypts."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from typing import Any

import pytest

from acud.base.errors import NotEnabled
from acud.protocol.push import PushTarget
from acud.protocol.web import Scope
from acud.types import Rect, WindowTitle
from acud.types.tasks import TaskStatus
from tests.e2e.conftest import SCRIPTED
from tests.e2e.desktop import Desk, until
from tests.e2e.gateway_support import SETTINGS, Browser, served, token
from tests.fixtures.daemon import Daemon
from tests.fixtures.notification_server import STEADY_KINDS
from tests.fixtures.push_service import PushService


@pytest.fixture(scope="module")
def pushing() -> Iterator[tuple[PushService, Daemon]]:
    """A service, and a daemon that pushes to it."""
    with PushService() as service, _pushing_to(service) as running:
        yield service, running
        assert service.origin + "/send" not in running.log()


def _pushing_to(service: PushService) -> Daemon:
    on = f'[notify]\npush = true\nkinds = {STEADY_KINDS}\ntimeout_s = 60\npush_services = ["{service.origin}"]\n'
    return Daemon(settings=SCRIPTED + SETTINGS + on)


@pytest.fixture
def service(pushing: tuple[PushService, Daemon]) -> Iterator[PushService]:
    service, daemon = pushing
    service.status, service.tries = 201, 0
    service.got.clear()
    yield service
    assert service.faults == []
    for one in daemon.client.web_token_list().passes:  # with their subscriptions
        daemon.client.web_token_revoke(one.pass_id)


@pytest.fixture
def daemon(pushing: tuple[PushService, Daemon]) -> Daemon:
    return pushing[1]


@pytest.fixture
def failing() -> Iterator[tuple[PushService, Daemon]]:
    """A service of its own, which a test has fail, and its daemon."""
    with PushService() as service, _pushing_to(service) as running:
        yield service, running


def found(daemon: Daemon) -> tuple[str, str]:
    (one,) = (one for one in daemon.client.doctor().findings if one.part == "push")
    return one.level, one.text


def ask(daemon: Daemon, secret: str, method: str, path: str, **given: Any) -> tuple[int, Any]:
    with Browser(served(daemon), secret) as browser:
        return browser.ask(method, path, **given)


def subscribe(daemon: Daemon, service: PushService, name: str, **limits: Any) -> tuple[str, str, str]:
    """Return a token of its own, the token's id, and the subscription's."""
    secret, made = token(daemon.client, Scope.READ, **limits)
    status, answer = ask(daemon, secret, "POST", "/api/push", json=service.target(name))
    assert status == 200, answer
    return secret, made.pass_id, answer["subscription"]["push_id"]


def fail(daemon: Daemon, name: str) -> str:
    """Have a task fail, of which an urgent notification is made."""
    task = daemon.client.task_register(name, isolated_display=False).view.task
    daemon.client.task_update(task.task_id, status=TaskStatus.FAILED)
    return task.task_id


def test_a_resolved_wait_arrives_once_and_encrypted(daemon: Daemon, service: PushService) -> None:
    client = daemon.client
    secret, _, push_id = subscribe(daemon, service, "desk")
    before = int(found(daemon)[1].split()[2])
    _, state = ask(daemon, secret, "GET", "/api/push")
    assert (state["on"], state["subscriptions"]) == (True, [push_id])
    display = client.display_create(320, 240).display
    wait = client.wait_create(WindowTitle("Payslip of Mia"), display=display.name, timeout_s=60).wait
    with Desk(display.name, display.auth_file) as desk:
        desk.window(Rect(0, 0, 200, 100), 0x336699, title="Payslip of Mia, account 0815")
        client.wait_end(wait.wait_id, timeout_s=60)
    until(lambda: service.got or service.faults, "the push")
    fail(daemon, "Export")  # behind it: nothing comes twice
    until(lambda: len(service.got) == 2, "the next")
    first, second = service.got
    assert first.body["title"] == "Wait resolved"
    assert first.body["path"] == f"#/waits/{wait.wait_id}"
    assert "0815" not in str(first.body)
    assert (first.key, first.claims["sub"]) == (state["public_key"], "mailto:acud@localhost")
    assert (first.headers["ttl"], first.headers["urgency"]) == ("3600", "normal")
    assert (second.body["title"], second.headers["urgency"]) == ("Task failed", "high")
    until(lambda: found(daemon) == ("ok", f"1 browsers, {before + 2} pushes sent"), "doctor")
    assert stat.S_IMODE((daemon.paths.home / "push.key").stat().st_mode) == 0o600
    assert ask(daemon, secret, "DELETE", f"/api/push/{push_id}")[0] == 200
    assert ask(daemon, secret, "DELETE", f"/api/push/{push_id}")[0] == 404
    assert client.push_list().subscriptions == ()


def test_limited_passes_hear_of_their_own_and_revoked_ones_of_nothing(daemon: Daemon, service: PushService) -> None:
    client = daemon.client
    mine = client.task_register("mine", isolated_display=False).view.task.task_id
    subscribe(daemon, service, "all")
    _, _, limited = subscribe(daemon, service, "limited", tasks=(mine,))
    other, gone, _ = subscribe(daemon, service, "revoked")
    assert ask(daemon, other, "DELETE", f"/api/push/{limited}")[0] == 404  # of another pass
    client.web_token_revoke(gone)
    assert len(client.push_list().subscriptions) == 2
    fail(daemon, "of others")
    client.task_update(mine, status=TaskStatus.FAILED)
    until(lambda: len(service.got) == 3 or service.faults, "the pushes")
    assert sorted((got.name, got.body["body"]) for got in service.got) == [
        ("all", "mine"),
        ("all", "of others"),
        ("limited", "mine"),
    ]


def test_a_browser_that_is_gone_is_forgotten(daemon: Daemon, service: PushService) -> None:
    subscribe(daemon, service, "desk")
    service.status = 410
    fail(daemon, "Export")
    until(lambda: daemon.client.push_list().subscriptions == (), "its end")
    assert service.tries == 1


def test_a_service_that_asks_for_a_pause_gets_it(failing: tuple[PushService, Daemon]) -> None:
    service, daemon = failing
    subscribe(daemon, service, "desk")
    service.status, service.extra = 429, {"Retry-After": "600"}
    fail(daemon, "Export")
    until(lambda: found(daemon)[0] == "warning", "the fault in doctor")
    fail(daemon, "more")
    assert "answered 429" in found(daemon)[1]
    assert service.tries == 1


def test_a_service_that_is_down_is_told_and_the_rest_goes_on(failing: tuple[PushService, Daemon]) -> None:
    service, daemon = failing
    subscribe(daemon, service, "desk")
    service.stop()
    task = fail(daemon, "Export")
    until(lambda: found(daemon)[0] == "warning", "the fault in doctor")
    assert service.origin in found(daemon)[1]
    assert daemon.client.task_list(statuses=(TaskStatus.FAILED,)).tasks[0].task.task_id == task


def test_only_push_services_are_called(daemon: Daemon, service: PushService) -> None:
    secret, _ = token(daemon.client, Scope.READ)
    target = service.target("desk")
    for endpoint in ("http://127.0.0.1:1/send/x", "https://intranet.example/x", "http://fcm.googleapis.com/x"):
        status, answer = ask(daemon, secret, "POST", "/api/push", json={**target, "endpoint": endpoint})
        assert (status, answer["code"]) == (422, "invalid")


def test_off_means_off(shared: Daemon, service: PushService) -> None:
    state = shared.client.push_list()
    assert (state.on, state.public_key) == (False, "")
    assert "push is off" in state.reason
    assert not (shared.paths.home / "push.key").exists()
    with pytest.raises(NotEnabled, match="notifications to browsers are off"):  # 403 over REST, no fault of acud
        shared.client.push_subscribe("pass-1", PushTarget(**service.target("off")))
    assert not [child for child in shared.client.status().children if child.kind == "relay"]
