"""A daemon that is started while its predecessor, which listens no more, still has the instance's lock."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from acud.base.paths import Paths, resolve
from tests.e2e.cli_support import CommandLine, settings
from tests.e2e.conftest import BARE
from tests.e2e.desktop import until
from tests.fixtures.daemon import Daemon

ENDING = """
import pathlib, sys
from acud.supervisor.instance import InstanceLock

lock = InstanceLock(pathlib.Path(sys.argv[2]))
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def ending(paths: Paths) -> Iterator[subprocess.Popen[str]]:
    """A process that looks like a supervisor and has its lock until its standard input ends."""
    command = [sys.executable, "-c", ENDING, "acud.supervisor", str(paths.lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield process


def test_it_starts_once_the_other_has_ended(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(0o700)
    (home / "acud.toml").write_text(settings(), encoding="utf-8")
    paths, acud = resolve({"ACU_HOME": str(home)}), CommandLine(home)
    with ending(paths) as predecessor:
        starting = acud.start("daemon", "start")
        words = paths.debug_log.parent / "start.log"
        until(
            lambda: words.exists() and "a supervisor already runs" in words.read_text(), "the one that came too early"
        )
        predecessor.communicate(timeout=60)
        out, err = starting.communicate(timeout=60)
    assert starting.returncode == 0, (out, err)
    acud.run("daemon", "stop")


def test_a_daemon_that_starts_slowly_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the tests' own daemon: on a loaded machine the soak said that it "is not running", 30 s after its start."""
    monkeypatch.setattr("tests.fixtures.daemon._LOOK_S", 0.05)
    with Daemon(settings=BARE, prefix=("sh", "-c", 'sleep 1; exec "$@"', "sh")) as daemon:
        assert daemon.client.status().pid == daemon.pid


def test_one_that_ends_at_once_is_told_with_its_words() -> None:
    with pytest.raises(RuntimeError, match="no_such_key"), Daemon("[daemon]\nno_such_key = 1\n"):
        pass
