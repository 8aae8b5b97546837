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
from tests.e2e.cli_support import CommandLine
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter
from tests.fuzz.samples import sample

_NAMES = [feature.name for feature in FEATURES]


def _off(*names: str) -> str:
    return "[features]\n" + "".join(f"{name} = false\n" for name in names)


@pytest.mark.parametrize("off", [_NAMES[::2], _NAMES[1::2]], ids=" ".join)
def test_a_daemon_without_a_feature_says_so_and_refuses_its_requests(off: list[str]) -> None:
    with Daemon(settings=_off(*off)) as daemon:
        found = {one.part: one.text for one in daemon.client.doctor().findings if one.part.startswith("feature ")}
        assert found == {f"feature {name}": "switched off in [features]" for name in off}
        for command in (one for one in REQUESTS if one.feature in off):
            request = msgspec.convert(sample(command.request), command.request)
            with pytest.raises(NotEnabled, match=f"the feature {command.feature} is switched off here") as refused:
                daemon.client.ask(request, command.reply)
            assert refused.value.hint == f"set {command.feature} = true in [features], then acud daemon restart"
        if "actions" in off:  # and `agent` is not
            with pytest.raises(NotEnabled, match="the feature actions is switched off"):
                daemon.client.gui_agent("press OK", backend="ollama")
        if "tasks" in off:
            told = CommandLine(daemon.home).start("task", "list").communicate(timeout=60)[1]
            assert "the feature tasks is switched off here" in told
            assert "set tasks = true in [features], then acud daemon restart" in told
            CommandLine(daemon.home).run("task", "list", code=8)


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


_LOADED = """
import os, sys
from pathlib import Path
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
    for file in sys.argv[1:]:
        settings = config.load(Path(file), {})
        app = App(settings, places, SystemClock(), {}, log_file, {}, HANDLERS, FEATURES, redaction)
        app.close()
instance.dismantle(places)
parts = [name.split(".")[2:4] for name in sys.modules if name.startswith("acud.features.")]
print(*sorted({part[0] for part in parts if part[1:] not in ([], ["settings"])}))
"""


def test_a_supervisor_does_not_load_what_is_off(tmp_path: Path) -> None:
    def loaded(*texts: str) -> set[str]:
        """Run with each settings in turn; return the features of which more is loaded than their settings, which are
        read in any case.
        """
        files = []
        for number, text in enumerate(texts):
            files.append(tmp_path / f"{number}.toml")
            files[-1].write_text(text, encoding="utf-8")
        env = {**os.environ, "ACU_HOME": str(tmp_path / "home")}
        command = [sys.executable, "-c", _LOADED, *files]
        return set(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.split())

    assert loaded(_off(*_NAMES)) == set()
    assert loaded(_off("scene", "recording")) == set(_NAMES) - {"scene", "recording"}
    assert loaded("", *map(_off, _NAMES)) == set(_NAMES), "it can be made without any one of them"
