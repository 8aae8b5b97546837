"""Notifications of a whole daemon, on a session bus of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from acud.base.errors import InvalidRequest, Unavailable
from acud.types import Rect, WindowTitle
from acud.types.tasks import TaskStatus
from tests.e2e.cli_support import acud
from tests.e2e.conftest import BARE, SCRIPTED
from tests.e2e.desktop import Desk, until
from tests.fixtures.daemon import Daemon
from tests.fixtures.notification_server import STEADY_KINDS, NotificationServer, Shown

ON = f"[notify]\nenabled = true\nkinds = {STEADY_KINDS}\nper_minute = 4\ntimeout_s = {{timeout_s}}\n"


@pytest.fixture
def server() -> Iterator[NotificationServer]:
    with NotificationServer() as running:
        yield running


@pytest.fixture(scope="module")
def steady() -> Iterator[tuple[NotificationServer, Daemon]]:
    """A server, and a daemon that tests ask to show less than four things a minute."""
    with NotificationServer() as server, _notifying(server, timeout_s=60) as running:
        yield server, running


def _notifying(server: NotificationServer, *, timeout_s: int) -> Daemon:
    env = {"DBUS_SESSION_BUS_ADDRESS": server.address}
    return Daemon(settings=SCRIPTED + BARE + ON.format(timeout_s=timeout_s), env=env)


def found(daemon: Daemon) -> tuple[str, str, str]:
    (one,) = (one for one in daemon.client.doctor().findings if one.part == "notify")
    return one.level, one.text, one.fix


def cli(daemon: Daemon) -> subprocess.CompletedProcess[str]:
    return acud(daemon, "notify", "test", "--json")


def test_ends_of_waits_tasks_takeovers_and_displays_are_told(server: NotificationServer) -> None:
    with _notifying(server, timeout_s=60) as daemon:  # patient with its server, which is a thread of the test
        _check_what_is_told(daemon, server)


def _check_what_is_told(daemon: Daemon, server: NotificationServer) -> None:
    client = daemon.client
    assert json.loads(cli(daemon).stdout)["server"] == "keeper"
    display = client.display_create(320, 240).display
    wait = client.wait_create(WindowTitle("Payslip of Mia"), display=display.name, timeout_s=60).wait
    other = client.wait_create(WindowTitle("never"), display=display.name, timeout_s=60).wait
    client.wait_cancel(other.wait_id)
    with Desk(display.name, display.auth_file) as desk:
        desk.window(Rect(0, 0, 200, 100), 0x336699, title="Payslip of Mia, account 0815")
        client.wait_end(wait.wait_id, timeout_s=60)
    task = client.task_register("Export", isolated_display=False).view.task
    client.task_update(task.task_id, status=TaskStatus.FAILED)
    lease = client.display_take(display.name, who="mia", for_s=60)
    client.display_release(display.name, lease=lease.lease)
    until(lambda: len(server.shown) == 4, "the notifications")
    test, resolved, failed, free = server.shown
    assert test.title == "acud"
    assert (resolved.title, resolved.urgency) == ("Wait resolved", 1)
    assert "0815" not in resolved.body  # what the screen showed is not told
    assert failed == Shown("Task failed", "Export", 2)
    assert free == Shown(f"Display {display.name} is free again", "mia: given back", 1)
    until(lambda: found(daemon)[:2] == ("ok", "4 shown, the newest by keeper"), "doctor")
    # The fourth within the minute, and then no more: the test counts nothing.
    for number in range(5):
        client.task_update(
            client.task_register(f"more {number}", isolated_display=False).view.task.task_id, status="failed"
        )
    until(lambda: len(server.shown) == 5, "one more")
    client.notify_test()  # behind all of them
    assert [one.title for one in server.shown[4:]] == ["Task failed", "acud"]


def test_a_dead_display_is_told(steady: tuple[NotificationServer, Daemon]) -> None:
    server, daemon = steady
    made = daemon.client.display_create(320, 240).display
    folder = daemon.paths.displays / made.name.lstrip(":")
    marker = f"{folder}".encode()
    xvfb = next(
        int(pid)
        for pid in os.listdir("/proc")  # noqa: PTH208 - names only
        if pid.isdigit() and _line(pid).startswith(b"Xvfb") and marker in _line(pid)
    )
    os.kill(xvfb, signal.SIGKILL)
    until(lambda: [one for one in server.shown if made.name in one.title], "its end")


def _line(pid: str) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return b""


def test_nobody_to_take_them_is_told_and_holds_nothing_up(server: NotificationServer) -> None:
    with _notifying(server, timeout_s=2) as daemon:
        client = daemon.client
        server.mood = "hangs"
        task = client.task_register("Export", isolated_display=False).view.task
        client.task_update(task.task_id, status=TaskStatus.FAILED)
        assert client.status().pid == daemon.pid
        until(lambda: found(daemon)[0] == "warning", "the fault in doctor")
        assert "no answer in 2 s" in found(daemon)[1]
        server.end_bus()
        with pytest.raises(Unavailable, match="the session bus does not answer"):
            client.notify_test()
        shown = cli(daemon)
        assert shown.returncode != 0
        assert "bus_address" in found(daemon)[2]


def test_a_relay_that_is_killed_comes_back_and_shows_the_next(steady: tuple[NotificationServer, Daemon]) -> None:
    server, client = steady[0], steady[1].client
    shown = len(server.shown)
    client.notify_test()
    (relay,) = (child for child in client.status().children if child.kind == "relay")
    os.kill(relay.pid, signal.SIGKILL)
    client.notify_test()
    assert len(server.shown) == shown + 2


def test_off_means_off(shared: Daemon) -> None:
    with pytest.raises(InvalidRequest, match="notifications are off"):
        shared.client.notify_test()
    task = shared.client.task_register("Export", isolated_display=False).view.task
    shared.client.task_update(task.task_id, status=TaskStatus.FAILED)
    assert not [child for child in shared.client.status().children if child.kind == "relay"]
    assert not [one for one in shared.client.doctor().findings if one.part == "notify"]
