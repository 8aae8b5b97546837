"""Monitors and X screens as targets: two side by side, one that goes and comes back, a second screen of a server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from acud.base.errors import AcudError
from acud.types import Change, MonitorInfo, Rect, WaitState
from acud_client import Client
from tests.e2e.cli_support import CommandLine
from tests.e2e.desktop import Desk, compared, ended, judged, shown, titled, until
from tests.fixtures.daemon import Daemon
from tests.integration.xserver import XServer

LONG_S = 120.0
LEFT, RIGHT = Rect(0, 0, 300, 480), Rect(300, 0, 340, 480)


@pytest.fixture
def server(client: Client) -> Iterator[XServer]:
    with XServer(extra=("-screen", "1", "320x200x24")) as running:
        client.display_add(running.display, auth_file=running.auth_file)
        yield running
        client.display_remove(running.display, force=True)


def arrange(server: XServer, *words: str) -> None:
    """Run xrandr on the display."""
    subprocess.run(["xrandr", *words], env=server.env(), check=True, capture_output=True)


def split(client: Client, server: XServer) -> None:
    """Make two monitors of the screen, and return when the daemon knows them."""
    for name, box in (("left", LEFT), ("right", RIGHT)):
        arrange(server, "--setmonitor", name, f"{box.w}/100x{box.h}/100+{box.x}+{box.y}", "none")
    until(lambda: {"left", "right"} <= {one.name for one in monitors(client, server)}, "the monitors")


def monitors(client: Client, server: XServer) -> tuple[MonitorInfo, ...]:
    """Return the display's monitors as the daemon knows them."""
    return next(one.monitors for one in client.display_list().displays if one.name == server.display)


def test_a_change_on_one_monitor_is_none_on_the_other(shared: Daemon, client: Client, server: XServer) -> None:
    split(client, server)
    assert [one.bounds for one in monitors(client, server)[:2]] == [LEFT, RIGHT]
    assert f"{server.display} monitors: left 300x480+0+0, right 340x480+300+0" in CommandLine(shared.home).run(
        "display", "list"
    )
    wait = client.wait_create(Change(), "monitor:RIGHT", display=server.display, timeout_s=LONG_S).wait.wait_id
    compared(shared, wait)
    assert client.look("monitor:0", display=server.display).crop == LEFT
    with Desk(server.display, server.auth_file) as desk:
        before = shown(client, wait).frames_seen
        desk.fill(Rect(270, 100, 30, 30), 0xFFFFFF)
        until(lambda: shown(client, wait).frames_seen > before, "the frame of the left monitor")
        compared(shared, wait)
        assert shown(client, wait).state is WaitState.WATCHING
        desk.fill(Rect(300, 100, 1, 1), 0xFFFFFF)
        done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert done.evidence is not None
    assert (done.evidence.width, done.evidence.height) == (RIGHT.w, RIGHT.h)


def test_a_monitor_that_goes_is_unknown_and_goes_on_when_it_is_back(
    shared: Daemon, client: Client, server: XServer
) -> None:
    split(client, server)
    wait = client.wait_create(Change(), "monitor:right", display=server.display, timeout_s=LONG_S).wait.wait_id
    compared(shared, wait)
    arrange(server, "--delmonitor", "right")
    lost = judged(client, wait, "unknown", "monitor_missing")
    assert "no monitor 'right' now; monitors there: left, screen" in lost.verdict.detail
    with Desk(server.display, server.auth_file) as desk:
        arrange(server, "--setmonitor", "right", f"{RIGHT.w}/100x{RIGHT.h}/100+{RIGHT.x}+{RIGHT.y}", "none")
        judged(client, wait, "no")
        assert shown(client, wait).state is WaitState.WATCHING  # it looks as it did
        desk.fill(Rect(400, 100, 30, 30), 0xFFFFFF)
        assert ended(client, wait).state is WaitState.RESOLVED


def test_what_changed_while_a_monitor_was_away_is_a_change(shared: Daemon, client: Client, server: XServer) -> None:
    split(client, server)
    wait = client.wait_create(Change(), "monitor:right", display=server.display, timeout_s=LONG_S).wait.wait_id
    compared(shared, wait)
    arrange(server, "--delmonitor", "right")
    judged(client, wait, "unknown", "monitor_missing")
    other = client.wait_create(Change(), display=server.display, timeout_s=LONG_S).wait.wait_id
    with Desk(server.display, server.auth_file) as desk:
        desk.fill(Rect(400, 100, 30, 30), 0xFFFFFF)
        assert ended(client, other).state is WaitState.RESOLVED
        arrange(server, "--setmonitor", "right", f"{RIGHT.w}/100x{RIGHT.h}/100+{RIGHT.x}+{RIGHT.y}", "none")
        assert ended(client, wait).state is WaitState.RESOLVED


def test_a_second_screen_is_a_display_of_its_own(shared: Daemon, client: Client, server: XServer) -> None:
    second = f"{server.display}.1"
    added = client.display_add(second, auth_file=server.auth_file).display
    assert (added.name, added.width, added.height) == (second, 320, 200)
    wait = client.wait_create(Change(), display=second, timeout_s=LONG_S).wait.wait_id
    compared(shared, wait)
    with Desk(server.display, server.auth_file) as desk:
        desk.fill(Rect(10, 10, 30, 30), 0xFFFFFF)
        client.look(display=server.display)
    assert shown(client, wait).state is WaitState.WATCHING
    with Desk(second, server.auth_file) as desk:
        under = desk.words(Rect(10, 10, 120, 60), "below", "under")
        assert ended(client, wait).state is WaitState.RESOLVED
        desk.window(Rect(0, 0, 320, 200), 0x2020FF, "over")
        titled(client, second, "over")
        until(lambda: client.look(f"window:{under}", display=second).crop == Rect(0, 0, 120, 60), "the covered window")
    client.display_remove(second, force=True)
    for name, words in ((f"{server.display}.2", "has 2 screens"), (f"{server.display}.0", "watched already")):
        with pytest.raises(AcudError, match=words):
            client.display_add(name, auth_file=server.auth_file)
