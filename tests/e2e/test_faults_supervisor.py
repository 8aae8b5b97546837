"""The supervisor killed, stopped, started twice: waits go on and end once, displays are adopted, nothing leaks."""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from acud.base.errors import Conflict, DaemonDown
from acud.types import Change, Criteria, FileState, OnDisplayLost, Policy, Stable, WindowTitle
from acud.types.scene import SceneMode
from acud_client import Client
from tests.e2e import faults
from tests.e2e.faults import Judge
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import LAMP, Painter
from tests.fixtures.wake_receiver import TOKEN, Receiver


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    judge = Judge(tmp_path_factory.mktemp("judge"))
    with Daemon(settings=faults.settings(judge, daemon={"restart_limit": 10_000})) as running:
        yield running


@pytest.fixture
def daemon(running: Daemon) -> Iterator[Daemon]:
    """A daemon with the judge of the lamp; it and its children may be killed as often as a test likes."""
    if running.process is None:
        running.start()
    yield running
    if running.process is not None:
        running.tidy()
        faults.until(lambda: not _x_servers(running), "no X server")


def _x_servers(daemon: Daemon) -> set[int]:
    return {pid for pid, command in faults.family(daemon.paths).items() if command.startswith("Xvfb")}


def test_waits_displays_and_deadlines_survive_the_supervisor(daemon: Daemon) -> None:
    client = daemon.client
    display = client.display_create().display
    with closing(Painter(display)) as painter:
        lamp = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
        late = client.wait_create(Criteria("never"), display=display.name, timeout_s=600).wait
        change = client.wait_create(Change(), display=display.name).wait
        for wait in (lamp, late):
            faults.judged(daemon, wait, "no")
        faults.judged(daemon, change, "no")
        soon = client.wait_create(Criteria("never"), display=display.name, timeout_s=2.0).wait
        servers = _x_servers(daemon)
        before = client.status()

        daemon.kill()
        faults.until(lambda: set(faults.family(daemon.paths)) == servers, "every child died with its parent")
        painter.lamp(on=True)  # while nobody watches
        faults.until(lambda: time.time() > soon.deadline_utc_s, "a deadline passed meanwhile")
        daemon.start()

        after = client.status()
        assert (after.pid, after.server_start) != (before.pid, before.server_start)
        assert _x_servers(daemon) == servers
        assert faults.display(daemon, display.name).managed
        assert "not seen in 2 s: " in faults.ended(daemon, soon, "timeout").message
        faults.ended(daemon, lamp, "resolved")
        faults.ended(daemon, change, "resolved")  # what changed while nobody watched is a change all the same
        still = client.wait_show(late.wait_id).wait
        assert (still.state.value, still.deadline_utc_s) == ("watching", late.deadline_utc_s)
        assert 0 < still.remaining_s < 600
        assert len(faults.rings(daemon.paths)) == 1
    daemon.stop()
    faults.nothing_left(daemon.paths, display.name)


@pytest.mark.parametrize("how", ["request", "twice", "cut off"])
def test_a_stop_ends_displays_and_their_waits_alike(daemon: Daemon, how: str) -> None:
    client = daemon.client
    display = client.display_create().display
    wait = client.wait_create(Criteria("never"), display=display.name, timeout_s=600).wait
    patient = Policy(on_display_lost=OnDisplayLost.WAIT)
    back = client.wait_create(Criteria("never"), display=display.name, timeout_s=600, policy=patient).wait
    file = client.wait_create(FileState("~/acud-never-there"), timeout_s=600).wait
    faults.judged(daemon, wait, "no")
    match how:
        case "request":
            assert client.shutdown().pid == daemon.pid
        case "twice":
            daemon.process.send_signal(signal.SIGTERM)
            daemon.process.send_signal(signal.SIGINT)
        case "cut off":  # a stop that was killed once it had stored that the display ends
            daemon.kill()
            with closing(sqlite3.connect(daemon.home / "data.db")) as database, database:
                database.execute("UPDATE displays SET state = 'ended', reason = 'the daemon was stopped'")
    if daemon.process is not None:
        assert daemon.process.wait(faults.PATIENCE_S) == 0
        daemon.process = None
        faults.nothing_left(daemon.paths, display.name)
    daemon.start()
    assert "the daemon was stopped" in faults.ended(daemon, wait, "failed").message
    for other in (back, file):
        assert client.wait_cancel(other.wait_id).wait.state.value == "cancelled"
    if how == "cut off":
        faults.until(lambda: not _x_servers(daemon), "the next start sweeps what a stop left")


def test_a_daemon_whose_folder_was_removed_ends_with_its_displays() -> None:
    with Daemon(settings=faults.settings()) as daemon:
        display = daemon.client.display_create().display
        shutil.rmtree(daemon.home)
        assert daemon.process.wait(faults.PATIENCE_S) == 0
        daemon.process = None
        faults.nothing_left(daemon.paths, display.name)


def test_a_stop_may_leave_the_displays_to_a_successor(daemon: Daemon) -> None:
    display = daemon.client.display_create().display
    servers = _x_servers(daemon)
    daemon.client.shutdown(keep_displays=True)
    assert daemon.process.wait(faults.PATIENCE_S) == 0
    daemon.process = None
    faults.until(lambda: set(faults.family(daemon.paths)) == servers, "the displays alone")
    daemon.start()
    assert _x_servers(daemon) == servers
    faults.until(lambda: faults.display(daemon, display.name).state.value == "up", "adopted")


def test_a_second_stop_ends_no_display_that_the_first_keeps() -> None:
    """A wake under way holds the end up, so a signal and a request to stop come in the middle of the first stop."""
    with Receiver("hang") as hook:
        wake = {"openclaw_url": hook.url, "openclaw_token": TOKEN, "routes": ["openclaw"]}
        with Daemon(settings=faults.settings(wake=wake)) as daemon:
            display = daemon.client.display_create().display
            daemon.client.wait_create(WindowTitle("no such window", gone=True), display=display.name)
            hook.wait_for(1)
            servers = _x_servers(daemon)
            daemon.client.shutdown(keep_displays=True)
            daemon.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(DaemonDown):  # it waits some seconds for the wake, and may have ended
                daemon.client.shutdown()
            assert daemon.process.wait(faults.PATIENCE_S) == 0
            daemon.process = None
            assert _x_servers(daemon) == servers
            daemon.start()
            assert [one.name for one in daemon.client.display_list().displays] == [display.name]


def test_a_second_daemon_is_refused_and_the_first_unharmed(daemon: Daemon) -> None:
    display = daemon.client.display_create().display
    wait = daemon.client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
    second = subprocess.run(
        [sys.executable, "-m", "acud.supervisor"], env=daemon.env, capture_output=True, text=True, timeout=60
    )
    assert second.returncode == 1
    (line,) = second.stderr.splitlines()
    assert f"pid {daemon.pid}" in line
    assert line.startswith("acud: a supervisor already runs")
    assert daemon.client.status().pid == daemon.pid
    with closing(Painter(display)) as painter:
        painter.lamp(on=True)
        faults.ended(daemon, wait, "resolved")


# ---- kills at random moments ---------------------------------------------------------------------------------------


class _Customer:
    """Arms waits of every kind without a pause, in a thread of its own, through every outage; `armed` are their ids."""

    def __init__(self, daemon: Daemon, display: str, seed: int) -> None:
        self._client = Client(daemon.paths, timeout_s=600.0, patience_s=300.0)
        self._display = display
        self._chance = random.Random(seed)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.armed: list[str] = []
        self.fault: BaseException | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End, and say what went wrong, if anything did."""
        self._stop.set()
        self._thread.join()
        self._client.close()
        if self.fault is not None:
            raise self.fault

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._arm()
                self._stop.wait(0.05)
        except BaseException as fault:  # noqa: BLE001 - told by `stop`
            self.fault = fault

    def _arm(self) -> None:
        until = self._chance.choice([faults.LAMP_IS_GREEN, Criteria("never"), Change(), Stable(0.5)])
        timeout_s = self._chance.uniform(0.2, 8.0)
        wait = self._client.wait_create(until, display=self._display, timeout_s=timeout_s).wait
        self.armed.append(wait.wait_id)
        if self._chance.random() < 0.1:
            with contextlib.suppress(Conflict):  # it has ended already
                self._client.wait_cancel(wait.wait_id, reason="enough")


def test_kills_at_random_moments_lose_nothing_and_repeat_nothing(daemon: Daemon) -> None:
    """A few; `scripts/soak` goes on with it for as long as one likes."""
    kills, seed = 6, 1
    chance = random.Random(seed)
    display, newest = daemon.client.display_create().display, faults.newest(daemon)
    servers = _x_servers(daemon)
    customer = _Customer(daemon, display.name, seed)
    with closing(Painter(display)) as painter:
        customer.start()
        for turn in range(kills):
            painter.lamp(on=turn % 2 == 0)
            time.sleep(chance.uniform(0.0, 0.4))  # the random moment; nothing depends on its length
            _kill_one(daemon, chance)
        painter.lamp(on=True)
        faults.until(lambda: customer.fault or len(customer.armed) > kills / 2, "waits enough to tell something")
        customer.stop()
        faults.until(lambda: daemon.client.wait_list().total == 0, "every wait ended")
    assert _x_servers(daemon) == servers
    faults.until(lambda: len(faults.rings(daemon.paths)) == 1, "one display, one ring")
    told = Counter(e.subject for e in faults.events(daemon, "wait.", after=newest) if e.topic in faults.ENDS)
    assert set(told.values()) == {1}
    assert set(customer.armed) <= set(told)  # one more may be there: armed, and its reply never read
    created = Counter(e.subject for e in faults.events(daemon, "wait.created", after=newest))
    assert created == told
    numbers = [e.n for e in faults.events(daemon)]
    assert numbers == sorted(set(numbers))
    for wait_id in customer.armed:
        assert daemon.client.wait_show(wait_id).wait.ended_utc_s > 0
    daemon.stop()
    faults.nothing_left(daemon.paths, display.name)


def _kill_one(daemon: Daemon, chance: random.Random) -> None:
    """Kill the supervisor (and start it again) or one of its children; one that is not there just now is spared."""
    kind = chance.choice(["supervisor", "supervisor", "capture", "evaluator"])
    if kind == "supervisor":
        daemon.kill()
        daemon.start()
        return
    pid = next((c.pid for c in daemon.client.status().children if c.kind == kind and c.pid), 0)
    if pid:
        with contextlib.suppress(ProcessLookupError):  # of the kill before
            faults.kill(pid)


def test_a_change_painted_right_after_a_restart_is_seen(daemon: Daemon) -> None:
    """The reply comes after the first frame that a change is measured from, also where the display only starts."""
    client = daemon.client
    display = client.display_create().display
    (server,) = _x_servers(daemon)
    with closing(Painter(display)) as painter, ThreadPoolExecutor(1) as pool:
        daemon.kill()
        faults.kill(server, signal.SIGSTOP)
        try:
            daemon.start()
            assert faults.display(daemon, display.name).state.value == "starting"
            asked = pool.submit(client.wait_create, Change(), f"region:{LAMP.x},{LAMP.y},{LAMP.w},{LAMP.h}",
                                display=display.name, timeout_s=600)  # fmt: skip
        finally:
            faults.kill(server, signal.SIGCONT)
        wait = asked.result(faults.PATIENCE_S).wait
        painter.lamp(on=True)
        faults.ended(daemon, wait, "resolved")


def test_a_scene_says_why_it_shows_nothing_of_a_display_that_starts(daemon: Daemon) -> None:
    display = daemon.client.display_create().display
    (server,) = _x_servers(daemon)
    daemon.kill()
    faults.kill(server, signal.SIGSTOP)
    try:
        daemon.start()
        for mode in (None, SceneMode.ACTIVE):
            scene = daemon.client.scene(mode, [display.name]).scene
            (shown,) = scene.displays
            assert (shown.name, shown.state, shown.reason) == (display.name, "starting", "its first frame is to come")
            (providers,) = scene.providers
            assert providers.ocr.state == ("off" if mode is None else "unavailable")
            assert providers.ocr.reason or mode is None
    finally:
        faults.kill(server, signal.SIGCONT)
