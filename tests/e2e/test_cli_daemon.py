"""`acud daemon`: starting, questioning, stopping; what is said when it can't."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud import __version__
from acud.base.paths import resolve
from acud_client import Client
from tests.e2e.cli_support import PATIENCE_S, CommandLine, settings


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "acud.toml").write_text(settings(), encoding="utf-8")
    return tmp_path


@pytest.fixture
def acud(home: Path) -> Iterator[CommandLine]:
    command_line = CommandLine(home)
    yield command_line
    home.chmod(0o700)
    command_line.run("daemon", "stop", "--force")


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # gone, or gone while it is read
        return False
    return state != "Z"  # ended, and its new parent has not looked yet


def test_waits_and_displays_outlast_a_restart(acud: CommandLine) -> None:
    acud.run("daemon", "start")
    name = acud.json("display", "create", "320x240")["display"]["name"]
    armed = acud.run("wait", "--window", "never", "-d", name, "--detach").strip()
    started = acud.json("daemon", "restart")
    assert {one["kind"]: one["state"] for one in started["children"]}.items() >= {("capture", "ready")}
    assert [one["state"] for one in started["displays"]] == ["up"]
    assert acud.json("waits", "show", armed)["wait"]["state"] == "watching"
    assert [one["name"] for one in acud.json("display", "list")["displays"]] == [name]
    child = acud.start("daemon", "stop")
    _, said = child.communicate(timeout=PATIENCE_S)
    assert f"this ends 1 managed display ({name}) with every program on it, and 1 wait; --keep-displays" in said
    acud.run("daemon", "start")
    assert acud.json("waits", "show", armed)["wait"]["state"] == "failed"
    gone = acud.json("display", "create", "320x240")["display"]["name"]
    os.kill(int(Path(f"/tmp/.X{gone.removeprefix(':')}-lock").read_text()), signal.SIGKILL)
    pid = acud.json("daemon", "restart")["pid"]  # a display that has gone does not keep it from restarting
    assert acud.json("daemon", "status")["pid"] == pid


def test_a_misspelt_setting_is_told_by_start_and_by_the_doctor(acud: CommandLine, home: Path) -> None:
    (home / "acud.toml").write_text("[vision]\nbackned = 'ocr'\n", encoding="utf-8")
    child = acud.start("daemon", "start")
    _, err = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 1
    assert err.count("\n") == 1
    assert "backned" in err
    faults = [found for found in acud.json("doctor", code=2)["findings"] if found["level"] == "fault"]
    assert any("backned" in found["text"] for found in faults)


def test_a_daemons_life(acud: CommandLine, home: Path) -> None:
    """A restart with settings that are refused leaves it alone."""
    good = (home / "acud.toml").read_text(encoding="utf-8")
    assert acud.json("daemon", "status", code=6)["error"]["code"] == "daemon_down"
    started = acud.json("daemon", "start")
    pid = started["pid"]
    assert {one["state"] for one in started["children"]} == {"ready"}
    assert acud.json("daemon", "start")["pid"] == pid
    assert acud.run("daemon", "start").startswith(f"already running: acud {__version__}, pid {pid}")
    assert acud.run("config", "check") == f"the settings are good: {home}/acud.toml\n"
    for bad, said in (
        ("[vision]\n\nbackned = 'ocr'\n", f"{home}/acud.toml:3: [vision] backned: there is no setting of this name"),
        ("[vision\n", f"{home}/acud.toml:1 is not valid TOML"),
        ("[wake]\nopenclaw_token_file = '/nowhere/token'\n", "cannot read /nowhere/token"),
    ):
        (home / "acud.toml").write_text(bad, encoding="utf-8")
        assert said in (err := acud.capture("config", "check", code=2)[1])
        assert err.count("\n") == 1
    assert acud.capture("daemon", "restart", code=2)[1] == err
    assert acud.json("daemon", "status")["pid"] == pid
    (home / "acud.toml").unlink()
    (home / "acud.toml").mkdir()  # nobody can read it
    assert acud.json("daemon", "restart", code=2)["error"]["code"] == "config"
    (home / "acud.toml").rmdir()
    (home / "acud.toml").write_text(good, encoding="utf-8")
    home.chmod(0o777)
    assert acud.json("daemon", "restart", code=8)["error"]["code"] == "refused"
    assert acud.json("daemon", "status")["pid"] == pid
    home.chmod(0o700)
    second = acud.json("daemon", "restart")["pid"]
    assert second != pid
    assert acud.json("daemon", "status")["pid"] == second
    assert acud.run("daemon", "stop") == f"stopped (pid {second})\n"
    assert acud.run("daemon", "stop") == "not running\n"
    assert not _runs(pid)
    assert not _runs(second)


def test_start_and_run_refuse_a_home_that_others_can_write_to(acud: CommandLine, home: Path) -> None:
    home.chmod(0o777)
    said = set()
    for command in ("start", "run"):
        child = acud.start("daemon", command)
        _, err = child.communicate(timeout=PATIENCE_S)
        assert child.returncode in (1, 8)
        said.add(err)
    assert len(said) == 1
    assert "can be written to by every user" in err
    assert f"chmod 700 {home}" in err
    assert stat.S_IMODE(home.stat().st_mode) == 0o777


def test_two_starts_at_once_make_one_daemon_which_is_ended_by_force_when_it_hangs(acud: CommandLine) -> None:
    starts = [acud.start("daemon", "start", "--json") for _ in range(2)]
    ends = [start.communicate(timeout=PATIENCE_S) for start in starts]
    assert [start.returncode for start in starts] == [0, 0], ends
    (pid,) = {json.loads(out)["pid"] for out, _ in ends}
    os.kill(pid, signal.SIGSTOP)
    child = acud.start("daemon", "stop")
    _, err = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 6
    assert "acud daemon stop --force" in err
    assert acud.run("daemon", "stop", "--force") == f"stopped (pid {pid})\n"
    assert not _runs(pid)


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_run_is_the_foreground_and_ends_by_a_signal(acud: CommandLine, end: signal.Signals) -> None:
    running = acud.start("daemon", "run", "--debug")
    with Client(resolve(acud.env), timeout_s=60, patience_s=60) as client:
        assert client.status().pid == running.pid
    assert acud.json("daemon", "status")["pid"] == running.pid
    running.send_signal(end)
    running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0
    assert "daemon.stopping" in acud.run("logs", "-n", "10000")
