"""Each feature can be left out: the daemon runs without it, says so, refuses its requests, and loads less."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from acud.base.errors import NotEnabled
from acud.features.supervisors import FEATURES
from acud.protocol.requests import REQUESTS
from acud.types import Change, WaitState
from tests.daemon import Daemon
from tests.e2e.cli_support import CommandLine
from tests.fixtures.painter import Painter
from tests.fuzz.samples import sample

_NAMES = [feature.name for feature in FEATURES]


def _off(*names: str) -> str:
    return "[features]\n" + "".join(f"{name} = false\n" for name in names)


@pytest.mark.parametrize("name", _NAMES)
def test_a_daemon_without_a_feature_says_so_and_refuses_its_requests(name: str) -> None:
    with Daemon(settings=_off(name)) as daemon:
        found = {one.part: one for one in daemon.client.doctor().findings}
        assert found[f"feature {name}"].text == "switched off in [features]"
        assert not any(part.startswith("feature ") for part in found if part != f"feature {name}")
        for command in (one for one in REQUESTS if one.feature == name):
            request = msgspec.convert(sample(command.request), command.request)
            with pytest.raises(NotEnabled, match=f"the feature {name} is switched off here") as refused:
                daemon.client.ask(request, command.reply)
            assert refused.value.hint == f"set {name} = true in [features], then acud daemon restart"


def test_without_any_feature_the_core_does_its_job() -> None:
    with Daemon(settings=_off(*_NAMES)) as daemon:
        display = daemon.client.display_create().display
        with closing(Painter(display)) as painter:
            wait = daemon.client.wait_create(Change(), display=display.name).wait
            painter.lamp(on=True)
            assert daemon.client.wait_result(wait.wait_id, block_s=60).wait.state is WaitState.RESOLVED
        assert daemon.client.look(display=display.name).display == display.name
        with pytest.raises(NotEnabled, match="the feature tasks is switched off"):
            daemon.client.wait_create(Change(), display=display.name, task_id="task-1")
        taken = daemon.client.display_take(display.name, who="somebody")
        assert daemon.client.display_release(display.name, lease=taken.lease).display.taken_by == ""


def test_an_agent_cannot_run_where_actions_are_off() -> None:
    with (
        Daemon(settings=_off("actions")) as daemon,
        pytest.raises(NotEnabled, match="the feature actions is switched off"),
    ):
        daemon.client.gui_agent("press OK", backend="ollama")


def test_a_person_is_told_what_to_do() -> None:
    with Daemon(settings=_off("tasks")) as daemon:
        told = CommandLine(daemon.home).start("task", "list").communicate(timeout=60)[1]
        assert "the feature tasks is switched off here" in told
        assert "set tasks = true in [features], then acud daemon restart" in told
        CommandLine(daemon.home).run("task", "list", code=8)


_LOADED = """
import os, sys
from acud import config
from acud.base import paths
from acud.base.clock import SystemClock
from acud.features.supervisors import FEATURES, redaction
from acud.supervisor import instance
from acud.supervisor.app import App
from acud.supervisor.handlers import HANDLERS
places = paths.resolve(os.environ)
paths.make_private(places.home)
instance.prepare(places)
with places.debug_log.open("ab", buffering=0) as log_file:
    app = App(config.load(places.config, {}), places, SystemClock(), {}, log_file, {}, HANDLERS, FEATURES, redaction)
    app.close()
instance.dismantle(places)
parts = [name.split(".")[2:4] for name in sys.modules if name.startswith("acud.features.")]
print(*sorted({part[0] for part in parts if part[1:] not in ([], ["settings"])}))
"""


def test_a_supervisor_does_not_load_what_is_off(tmp_path: Path) -> None:
    def loaded(home: Path, text: str) -> set[str]:
        """Return the features of which more is loaded than their settings, which are read in any case."""
        home.mkdir()
        (home / "acud.toml").write_text(text, encoding="utf-8")
        env = {**os.environ, "ACU_HOME": str(home)}
        told = subprocess.run([sys.executable, "-c", _LOADED], env=env, capture_output=True, text=True, check=True)
        return set(told.stdout.split())

    assert loaded(tmp_path / "all", "") == set(_NAMES)
    assert loaded(tmp_path / "none", _off(*_NAMES)) == set()
    assert loaded(tmp_path / "some", _off("scene", "recording")) == set(_NAMES) - {"scene", "recording"}
