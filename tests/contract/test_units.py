"""The systemd units say what the architecture asks of them (section 1)."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
from pathlib import Path

import pytest

UNITS = Path(__file__).parents[2] / "conf" / "systemd"


def _unit(name: str) -> configparser.ConfigParser:
    # Units repeat keys and hold %: neither strict nor interpolated.
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string((UNITS / name).read_text(encoding="utf-8"))
    return parser


def test_the_daemon() -> None:
    service = _unit("acud.service")["Service"]
    assert service["ExecStart"].endswith("acud daemon run")
    assert (service["Type"], service["KillMode"]) == ("notify", "process")
    assert float(service["WatchdogSec"]) > 0


def test_the_endpoint_of_a_fleet() -> None:
    service = _unit("acud-fleet.service")["Service"]
    assert service["ExecStart"].endswith("acud fleet serve")
    assert (service["Type"], service["Restart"]) == ("notify", "on-failure")
    assert float(service["WatchdogSec"]) > 0


def test_a_display_of_a_headless_host() -> None:
    unit = _unit("acud-xvfb@.service")
    line = unit["Service"]["ExecStart"].split()
    assert {"-auth", "-noreset", "-nolisten"} <= set(line)
    assert "-ac" not in line
    assert unit["Unit"]["Before"] == "acud.service"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("name", ["acud.service", "acud-fleet.service", "acud-xvfb@99.service"])
def test_systemd_understands_every_line(tmp_path: Path, name: str) -> None:
    for unit in UNITS.iterdir():
        shutil.copy(unit, tmp_path / unit.name.replace("@.", "@99."))
    program = tmp_path / "acud" / ".venv" / "bin" / "acud"  # what ExecStart names, below the home directory
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    command = ["systemd-analyze", "verify", "--user", "--man=no", str(tmp_path / name)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
