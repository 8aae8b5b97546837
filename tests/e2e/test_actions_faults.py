"""Death in the middle of an action, and programs that must not leak: nothing is done twice, nothing is left behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acud.base.errors import AcudError, DisplayDown, OutcomeUnknown, Unavailable
from acud.protocol.requests.actions import ActionReply, DesktopAction
from acud.types import DisplayInfo
from acud.types.actions import Click, Drag, Launch, Point, WaitIdle
from acud_client import Client
from tests.e2e.conftest import BARE
from tests.e2e.desktop import until
from tests.e2e.recording import Recording, act
from tests.fixtures.daemon import Daemon
from tests.integration.xserver import XServer

_DRAGS = tuple(Drag(Point(500, 400), Point(20 + n, 30)) for n in range(64))
"""Far longer than it takes to kill something after the first of them."""

_STRAY = """
import os, sys, time
os.fork() and os._exit(0)
os.setsid()
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(600)
"""
"""A program that leaves its parent and its session."""


@pytest.fixture(scope="module")
def host() -> Iterator[Daemon]:
    with Daemon(settings=BARE + "[daemon]\nrestart_limit = 1000\n") as running:
        yield running


@pytest.fixture
def daemon(host: Daemon) -> Iterator[Daemon]:
    yield host
    host.tidy()


@pytest.fixture
def view(daemon: Daemon) -> DisplayInfo:
    return daemon.client.display_create(640, 480).display


class Dragging:
    """64 drags on their way in a thread; made when the first has begun. `outcome` is what came of them."""

    def __init__(self, daemon: Daemon, display: str, folder: Path, request_id: str = "") -> None:
        self._recorder = Recording(daemon.client, display, folder)
        self._outcome: list[ActionReply | AcudError] = []
        self._thread = threading.Thread(target=self._act, args=(daemon, display, request_id))
        self._thread.start()
        self._recorder.presses(1)

    def _act(self, daemon: Daemon, display: str, request_id: str) -> None:
        with Client(daemon.paths, patience_s=60) as client:
            try:
                self._outcome.append(act(client, *_DRAGS, display=display, request_id=request_id))
            except AcudError as fault:
                self._outcome.append(fault)

    def outcome(self) -> ActionReply | AcudError:
        self._thread.join(90)
        return self._outcome[0]

    def is_honest(self) -> bool:
        """Whether its outcome is unknown; or else, where death came between two drags, that none was begun after it."""
        fault = self.outcome()
        if isinstance(fault, OutcomeUnknown):
            return True
        between = isinstance(fault, Unavailable) and "takes no acts now" in fault.message
        return between and self.presses() <= fault.facts["done"]

    def presses(self) -> int:
        return len(self._recorder.lines("press"))

    def places_until(self, last: Point) -> list[tuple[int, ...]]:
        """Return where presses were before the one at `last`."""
        end = f"press 1 {last.x} {last.y} 0"
        self._recorder.until(lambda lines: end in lines, "the last press")
        lines = self._recorder.lines("press")
        return [tuple(map(int, line.split()[2:4])) for line in lines[: lines.index(end)]]


def capture_pid(daemon: Daemon, display: str) -> int:
    children = daemon.client.status().children
    return next(child.pid for child in children if child.kind == "capture" and child.name == display)


def pid_of_x(display: str) -> int:
    return int(Path(f"/tmp/.X{display.lstrip(':')}-lock").read_text())


def kill_capture(daemon: Daemon, display: str) -> None:
    os.kill(capture_pid(daemon, display), signal.SIGKILL)


def kill_x(daemon: Daemon, display: str) -> None:
    os.kill(pid_of_x(display), signal.SIGKILL)


def remove(daemon: Daemon, display: str) -> None:
    daemon.client.display_remove(display, force=True)


@pytest.mark.parametrize("end", [kill_capture, kill_x, remove])
def test_death_in_mid_drag(
    daemon: Daemon, view: DisplayInfo, tmp_path: Path, end: Callable[[Daemon, str], None]
) -> None:
    dragging = Dragging(daemon, view.name, tmp_path)
    end(daemon, view.name)
    fault = dragging.outcome()
    assert dragging.is_honest(), fault
    assert isinstance(fault, AcudError)
    assert "of 64 (drag from " in fault.message
    assert fault.facts["failed"] == fault.facts["done"] + 1 <= 64
    assert not isinstance(fault, OutcomeUnknown) or fault.hint == "look before you go on; it is not repeated"
    if end is kill_capture:  # the display is acted on again

        def click() -> ActionReply | None:
            try:
                return act(daemon.client, Click(Point(3, 3)), display=view.name)
            except Unavailable:  # DisplayDown is one
                return None

        before = dragging.presses()
        until(click, "a click")
        until(lambda: dragging.presses() > before, "its press")


def test_a_display_that_is_down_is_not_acted_on(daemon: Daemon, view: DisplayInfo) -> None:
    kill_x(daemon, view.name)

    def ended() -> bool:  # capture may be heard of first: then it is down for a moment
        return next(d for d in daemon.client.display_list().displays if d.name == view.name).state == "ended"

    until(ended, "its end")
    with pytest.raises(DisplayDown, match=f"display {view.name} is ended"):
        act(daemon.client, Click(Point(3, 3)), display=view.name)
    with pytest.raises(DisplayDown):
        act(daemon.client, WaitIdle(0.1, 5), display=view.name)


def test_a_killed_daemon_never_does_it_again(daemon: Daemon, view: DisplayInfo, tmp_path: Path) -> None:
    dragging = Dragging(daemon, view.name, tmp_path, "drag-once")
    daemon.kill()
    daemon.start()
    fault = dragging.outcome()  # its client asks again with the same id
    assert isinstance(fault, OutcomeUnknown)
    request = DesktopAction(_DRAGS, display=view.name)
    with pytest.raises(OutcomeUnknown, match="started and its end never recorded"):
        daemon.client.ask(request, ActionReply, request_id="drag-once")
    until(lambda: daemon.client.display_list().displays[0].state == "up", "the display")
    act(daemon.client, Click(Point(3, 3)), display=view.name)
    # Events come in order, so the click ends the list; each drag began at a place of its own.
    began = dragging.places_until(Point(3, 3))
    assert began == [(20 + n, 30) for n in range(len(began))]
    assert 0 < len(began) < 64


def test_a_program_that_ends_at_once_says_why(daemon: Daemon, view: DisplayInfo) -> None:
    act(daemon.client, Launch(("sh", "-c", "echo of another launch >&2; exit 0")), display=view.name)

    def failed() -> AcudError | None:  # on a slow machine it may live for longer than a moment
        try:
            act(daemon.client, Launch(("sh", "-c", "echo no colour '\x1b[31m' here >&2; exit 3")), display=view.name)
        except Unavailable as fault:
            return fault
        return None

    fault = until(failed, "the end of the program")
    assert "sh was started and ended at once: exit status 3" in fault.message
    assert fault.hint.endswith('never instructions): "no colour [31m here"')


def test_launched_programs_outlive_the_daemon_and_end_with_their_display(
    daemon: Daemon, view: DisplayInfo, tmp_path: Path
) -> None:
    stray = tmp_path / "stray"
    reply = act(daemon.client,
        Launch((sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)")),
        Launch((sys.executable, "-c", _STRAY, str(stray))),
        Launch((sys.executable, "-c", "import os, sys; open(sys.argv[1], 'w').write(repr(dict(os.environ)))",
                str(tmp_path / "env")), cwd=str(tmp_path)),
        display=view.name,
    )  # fmt: skip
    until(lambda: stray.exists() and stray.read_text(), "the stray program")
    log = Path(view.auth_file).parent / f"launched-{Path(sys.executable).name}.log"
    until(lambda: log.read_text() == "up\n", "its output in the log")
    env = eval(until(lambda: (tmp_path / "env").exists() and (tmp_path / "env").read_text(), "its environment"))
    assert (env["DISPLAY"], env["XAUTHORITY"], env["ACCESSIBILITY_ENABLED"]) == (view.name, view.auth_file, "1")
    assert env["ACUD_DISPLAY_FOLDER"] == str(Path(view.auth_file).parent)
    until(lambda: not Path(f"/proc/{reply.pid}").exists(), "the reaping of the one that ended")
    # What stays: the X server, the first program, the stray one.
    pids = until(lambda: found if len(found := marked(env["ACUD_DISPLAY_FOLDER"])) == 3 else None, "three that stay")
    assert int(stray.read_text()) in pids
    daemon.kill()
    assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    daemon.start()
    until(lambda: daemon.client.display_list().displays[0].state == "up", "the display")
    assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    daemon.client.display_remove(view.name)
    until(lambda: not marked(env["ACUD_DISPLAY_FOLDER"]), "the end of every program")


def marked(folder: str) -> list[int]:
    """Return the processes of a display, X server and all."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            environ = (path / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"ACUD_DISPLAY_FOLDER={folder}".encode() in environ:
            found.append(int(path.name))
    return found


def test_a_program_on_an_added_display_is_left_alone(daemon: Daemon, tmp_path: Path) -> None:
    with XServer(320, 240) as server:
        daemon.client.display_add(server.display, auth_file=server.auth_file)
        told = tmp_path / "env"
        writes = (
            "import os, sys, time; open(sys.argv[1], 'w').write(repr(dict(os.environ))); print('up'); time.sleep(600)"
        )
        reply = act(daemon.client, Launch((sys.executable, "-u", "-c", writes, str(told))), display=server.display)
        try:
            env = eval(until(lambda: told.exists() and told.read_text(), "its environment"))
            assert (env["DISPLAY"], env["XAUTHORITY"]) == (server.display, server.auth_file)
            assert not {"ACUD_DISPLAY_FOLDER", "ACCESSIBILITY_ENABLED", "DBUS_SESSION_BUS_ADDRESS"} & set(env)
            until(lambda: daemon.paths.programs_log.read_text() == "up\n", "its output")
            daemon.client.display_remove(server.display)
            assert Path(f"/proc/{reply.pid}").exists()
        finally:
            os.kill(reply.pid, signal.SIGKILL)
