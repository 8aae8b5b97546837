"""One daemon with one managed display for the tests that only talk to it; those that break things start their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from acud.base.errors import Conflict
from acud.types import DisplayInfo
from acud_client import Client
from tests.e2e.desktop import Desk, emptied, until, write_script
from tests.fixtures.browsers import api, browser, chromium, session, visitor
from tests.fixtures.daemon import Daemon
from tests.fixtures.guis import form, gui_daemon
from tests.fixtures.longest_first import begin_with
from tests.fixtures.wire import NotPermitted, Wire

__all__ = ["api", "browser", "chromium", "form", "gui_daemon", "session", "visitor"]

SCRIPTED = '[vision]\nbackend = "scripted"\nscripted = \'{"default": "no"}\'\n'
BARE = '[evaluator]\nworkers = 1\n[display]\nwindow_manager = "none"\nsession_bus = false\n'
PATIENT_TMUX = "[pty]\ntimeout_s = 20\n"
LONGEST = (
    "gui_do", "action_waits", "fleet_rearm", "readme", "baselines_restart", "fleet_wakes", "agent", "commentary",
    "faults_recordings", "dashboard_tasks", "cli_daemon", "screens_replay", "waits_displays", "gateway_process",
    "faults_supervisor", "fleet", "dashboard_states", "wakes", "recordings", "upkeep", "dashboard_pages", "terminals",
)  # fmt: skip
"""Files that take over a minute, the longest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    begin_with(items, Path(__file__).parent, LONGEST)


@pytest.fixture(scope="module")
def daemon(request: pytest.FixtureRequest) -> Iterator[Daemon]:
    """A daemon with the module's `DAEMON_SETTINGS`; else the scripted judge says no, and tmux may take its time."""
    usual = SCRIPTED + BARE + PATIENT_TMUX
    with Daemon(settings=getattr(request.module, "DAEMON_SETTINGS", usual)) as running:
        yield running


@pytest.fixture(scope="module")
def display(daemon: Daemon) -> DisplayInfo:
    """A managed display of 320x240."""
    return daemon.client.display_create(320, 240).display


@pytest.fixture(scope="session")
def script() -> Iterator[Path]:
    """The scripted judge's script, of the daemon that feature tests share."""
    with TemporaryDirectory(prefix="acud-test-script-") as folder:
        path = Path(folder, "script.json")
        write_script(path, '{"default": "no"}')
        yield path


@pytest.fixture(scope="session")
def shared(script: Path) -> Iterator[Daemon]:
    """One daemon for all feature tests, with the scripted judge; `judge=` of a wait asks another."""
    judged = f'[vision]\nbackend = "scripted"\nscripted = "{script}"\n'
    with Daemon(settings=judged + BARE + PATIENT_TMUX) as running:
        yield running


@pytest.fixture
def client(shared: Daemon) -> Iterator[Client]:
    """A client of the shared daemon; waits that a test leaves are cancelled."""
    yield shared.client
    for wait in shared.client.wait_list().waits:
        with suppress(Conflict):
            shared.client.wait_cancel(wait.wait_id)


@pytest.fixture
def judge(script: Path) -> Iterator[Callable[[str], None]]:
    """Give the scripted judge another script for this test."""
    yield partial(write_script, script)
    write_script(script, '{"default": "no"}')


@pytest.fixture(scope="module")
def view(shared: Daemon) -> Iterator[DisplayInfo]:
    """A managed display of 640x480 for one module, which keeps its evaluator: every one of them is ready by now."""
    until(lambda: _all_ready(shared), "every evaluator")
    made = shared.client.display_create(640, 480).display
    yield made
    shared.client.display_remove(made.name, force=True)


@pytest.fixture
def desk(shared: Daemon, view: DisplayInfo) -> Iterator[Desk]:
    """Somebody who works on that display and leaves it black. The windows of who worked there before are forgotten."""
    emptied(shared.client, view.name)
    with Desk(view.name, view.auth_file) as working:
        yield working


def _all_ready(shared: Daemon) -> bool:
    evaluators = [child for child in shared.client.status().children if child.kind == "evaluator"]
    return all(child.state == "ready" for child in evaluators)


@pytest.fixture
def wire() -> Iterator[Wire]:
    """A link to be cut and healed, from the network namespace that the test is in meanwhile to another one."""
    try:
        with Wire() as made:
            yield made
    except NotPermitted as fault:
        pytest.skip(f"network namespaces are not permitted here: {fault}")
