"""What systemd itself says of the units: nothing wrong with them, and how much they leave open."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
from pathlib import Path

import pytest

UNITS = Path(__file__).parents[2] / "conf" / "systemd"
EXPOSURE = {"acud.service": 75, "acud-system.service": 28, "acud-xvfb@.service": 70}
"""Tenths of systemd's figure, 100 for a service that closes nothing. A user's service has no mount namespaces, and
programs on displays need namespaces and memory that is written and run (browsers): that is what is left."""

pytestmark = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")


def analyze(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(folder), "HOME": str(folder)}
    return subprocess.run(
        ["systemd-analyze", *arguments], cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False
    )


def installed(folder: Path, name: str) -> str:
    """Put the unit into `folder` as a host would have it, its program one that is there; return its file's name."""
    text = (UNITS / name).read_text(encoding="utf-8")
    lines = [f"ExecStart={shutil.which('true')}" if is_start(line) else line for line in text.splitlines()]
    target = folder / name.replace("@.", "@99.")
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return target.name


def is_start(line: str) -> bool:
    return line.startswith("ExecStart=")


@pytest.mark.parametrize("name", sorted(EXPOSURE))
def test_systemd_finds_nothing_wrong(tmp_path: Path, name: str) -> None:
    done = analyze(tmp_path, "verify", "--man=no", f"./{installed(tmp_path, name)}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_systemd_does_find_what_is_wrong(tmp_path: Path) -> None:
    name = installed(tmp_path, "acud.service")
    text = (tmp_path / name).read_text().replace("NoNewPrivileges=yes", "NoNewPrivilege=yes")
    (tmp_path / name).write_text(text)
    assert "NoNewPrivilege" in analyze(tmp_path, "verify", "--man=no", f"./{name}").stderr


@pytest.mark.parametrize(("name", "most"), EXPOSURE.items())
def test_no_more_is_open_than_is_said(name: str, most: int, tmp_path: Path) -> None:
    done = analyze(tmp_path, "security", "--offline=true", "--no-pager", f"--threshold={most}", str(UNITS / name))
    assert done.returncode == 0, done.stdout[-200:] + done.stderr


@pytest.mark.parametrize("name", ["acud.service", "acud-system.service"])
def test_a_display_s_programs_and_its_next_daemon_get_by(name: str) -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string((UNITS / name).read_text(encoding="utf-8"))
    service = unit["Service"]
    assert (service["KillMode"], service["OOMPolicy"], service["RemoveIPC"]) == ("process", "continue", "no")
    assert not {"MemoryDenyWriteExecute", "RestrictNamespaces", "PrivateIPC", "PrivateNetwork"} & set(service)
    assert "@mount" not in service["SystemCallFilter"]
    if service.get("PrivateTmp") == "yes":
        assert service["BindPaths"] == "/tmp/.X11-unix"
