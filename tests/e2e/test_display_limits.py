"""Programs of one display that take too much are ended or refused, with the reason; the neighbours notice nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from acud.base.errors import Refused, Unavailable
from acud.protocol.requests.actions import ActionReply, DesktopAction
from acud.supervisor.displays import proc_files
from acud.types import DisplayInfo, DisplayState
from acud.types.actions import Launch
from tests.e2e.conftest import BARE, SCRIPTED
from tests.e2e.desktop import until
from tests.fixtures.daemon import Daemon
from tests.fixtures.retitled import WRITE_OVER

LIMITS = "memory_mb = 250\nprocesses = 20\nlimits_check_s = 0.2\n"
HUNGRY = "import time; held = b'x' * 300_000_000; time.sleep(600)"
FORKING = """
import os, time
for _ in range(2000):
    if os.fork() == 0:
        time.sleep(600)
    time.sleep(0.002)
"""
PICTURES = """
from Xlib import display
import time
shown = display.Display()
root = shown.screen().root
kept = [root.create_pixmap(2000, 2000, 24) for _ in range(20)]
for pixmap in kept:
    pixmap.fill_rectangle(pixmap.create_gc(foreground=0xFFFFFF), 0, 0, 2000, 2000)
shown.sync()
time.sleep(600)
"""


@pytest.fixture(scope="module")
def host() -> Iterator[Daemon]:
    with Daemon(settings=SCRIPTED + BARE + LIMITS) as running:
        yield running


@pytest.fixture
def made(host: Daemon) -> Iterator[DisplayInfo]:
    display = host.client.display_create(320, 240).display
    yield display
    if display.name in {one.name for one in host.client.display_list().displays}:
        host.client.display_remove(display.name, force=True)


def launch(host: Daemon, display: DisplayInfo, *command: str) -> None:
    with suppress(Unavailable):  # the limit may end it within the moment that launch waits for
        host.client.ask(DesktopAction((Launch(command),), display=display.name), ActionReply)


def told(host: Daemon, display: DisplayInfo) -> list[str]:
    events = [
        one for one in host.client.events_since(topic="display.", limit=1000).events if one.subject == display.name
    ]
    made = max(event.n for event in events if event.topic == "display.up")  # another had its name before
    return [str(event.data["reason"]) for event in events if event.topic == "display.limited" and event.n > made]


def running(host: Daemon, display: DisplayInfo) -> int:
    folder = str(host.paths.displays / display.name.lstrip(":"))
    marked = proc_files.find_marked()
    return sum(where == folder and proc_files.start_ticks(pid) is not None for pid, where in marked.items())


@pytest.mark.parametrize("before", ["", WRITE_OVER], ids=["plain", "retitled"])
def test_a_program_that_takes_too_much_memory_is_killed_and_told(host: Daemon, made: DisplayInfo, before: str) -> None:
    launch(host, made, "sleep", "600")
    beside = running(host, made)
    launch(host, made, sys.executable, "-c", f"{before}\n{HUNGRY}")
    until(lambda: told(host, made), "the limit")
    until(lambda: running(host, made) == beside, "the others alone")
    (reason,) = told(host, made)
    assert "of memory, 250 are allowed: killed python" in reason
    assert state(host, made) is DisplayState.UP
    (found,) = (one for one in host.client.doctor().findings if one.part == f"display {made.name}" and one.fix)
    assert found.text == f"was over its limit: {reason}"


def test_a_program_that_forks_without_end_is_ended_and_its_neighbour_is_not(host: Daemon, made: DisplayInfo) -> None:
    neighbour = host.client.display_create(320, 240).display
    launch(host, neighbour, "sleep", "600")
    beside = running(host, neighbour)
    launch(host, made, sys.executable, "-c", FORKING)
    reasons = until(lambda: told(host, made), "the limit")
    assert "processes, 20 are allowed: killed python" in reasons[0]
    until(lambda: running(host, made) <= 20, "an end of the forking")
    assert running(host, neighbour) == beside
    assert told(host, neighbour) == []
    host.client.display_remove(neighbour.name, force=True)


def test_an_x_server_that_its_clients_filled_ends_with_its_display(host: Daemon, made: DisplayInfo) -> None:
    launch(host, made, sys.executable, "-c", PICTURES)
    # It is down, with what the capture process saw, before its end is told with the reason.
    ended = until(
        lambda: [one for one in host.client.display_list(ended=True).displays if _has_ended(one, made)], "its end"
    )
    assert "as the display was over its limit" in ended[0].reason
    assert "killed Xvfb" in told(host, made)[0]


def _has_ended(one: DisplayInfo, made: DisplayInfo) -> bool:
    return (one.number, one.state) == (made.number, DisplayState.ENDED)


def test_one_more_program_than_may_run_is_refused(host: Daemon, made: DisplayInfo) -> None:
    for _ in range(20 - running(host, made)):
        launch(host, made, "sleep", "600")
    with pytest.raises(Refused, match=f"display {made.name} is at its limit: 20 processes") as refused:
        launch(host, made, "sleep", "600")
    assert "raise [display] processes" in refused.value.hint
    assert told(host, made) == []


def test_the_limits_are_told(host: Daemon) -> None:
    (found,) = (one for one in host.client.doctor().findings if one.part == "limits")
    assert (found.level, found.text) == ("ok", "250 MB and 20 processes for each managed display")


def state(host: Daemon, display: DisplayInfo) -> DisplayState:
    return next(one.state for one in host.client.display_list().displays if one.name == display.name)
