"""scripts/setup leaves alone what is set up, whoever calls it."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.house import ROOT, nodes_of

OWN = f"{ROOT}/.venv/bin"


def checked(path: list[str]) -> tuple[int, str, str]:
    done = subprocess.run(
        [ROOT / "scripts" / "setup", "--check"],
        env=os.environ | {"PATH": ":".join(path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_its_own_environment_on_path_is_not_what_it_is_made_from() -> None:
    """As in a script that a test run starts: made anew, the environment would lack its packages under the tests."""
    others = [folder for folder in os.environ["PATH"].split(":") if folder != OWN]
    said = checked([OWN, OWN, *others, OWN])
    assert said == checked(others)
    assert said[0] in (0, 1)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with nothing but the script, and an `id` that says somebody else runs it."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "setup", tmp_path / "scripts" / "setup")
    (tmp_path / "bin").mkdir()
    other = tmp_path / "bin" / "id"
    other.write_text('#!/bin/sh\n[ "$1" = -un ] && echo anna || echo 4242\n', encoding="utf-8")
    other.chmod(0o755)
    return tmp_path


def run_by_another(checkout: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / "scripts" / "setup", "--check"],
        env=os.environ | {"PATH": f"{checkout / 'bin'}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_what_another_user_left_is_named_with_the_command(checkout: Path) -> None:
    """As after `sudo scripts/demo`: it ended with `.state/setup.lock: Permission denied`."""
    for name in (".state", ".venv"):
        (checkout / name).mkdir()
    (checkout / ".state" / "setup.lock").touch()
    done = run_by_another(checkout)
    assert done.returncode == 1
    assert done.stderr == (
        f'setup: .state .venv in {checkout}: files of another user, as "sudo scripts/demo" leaves them; '
        f"run: sudo chown -R anna {checkout}/.state {checkout}/.venv\n"
    )


def test_what_is_ones_own_is_not(checkout: Path) -> None:
    (checkout / "bin" / "id").unlink()
    (checkout / ".state").mkdir()
    assert "another user" not in run_by_another(checkout).stderr


# ---- what tests run is there ---------------------------------------------------------------------------------------

PACKAGES = {
    "Xvfb": "xvfb", "setxkbmap": "xvfb", "openbox": "openbox", "xterm": "xterm", "tmux": "tmux",
    "dbus-daemon": "dbus-daemon", "dbus-send": "dbus-daemon", "xdpyinfo": "x11-utils", "xrandr": "x11-xserver-utils",
    "xmessage": "x11-utils", "xset": "x11-xserver-utils",
    "xrdb": "x11-xserver-utils", "xsetroot": "x11-xserver-utils",
    "xdotool": "xdotool", "scrot": "scrot", "chromium": "?chromium", "firefox-esr": "?firefox-esr",
    "soffice": "?libreoffice-calc",
    "nats-server": "nats-server", "curl": "curl",
    "ip": "iproute2", "systemd-analyze": "systemd", "openssl": "ca-certificates", "tesseract": "?tesseract-ocr",
    "debootstrap": "?debootstrap", "i3lock": "?i3lock",
}  # fmt: skip
"""Program: the listed package that brings it, itself or by one it depends on."""
ESSENTIAL = {
    "apt-cache", "tar", "apt-get", "bash", "cat", "sh", "ln", "sleep", "true", "mount", "umount", "unshare", "python3",
}  # fmt: skip
"""Programs of every Debian, and the interpreter that acud runs on."""
ASKED_FOR = {
    "fc-match": "a bench asks for it, and names what is missing", "git": "the checkout came by it",
    "acud": "the environment's own", "electron": "no package brings it; its test is skipped by name without",
    "npm": "its tests are skipped by name without", "node": "its tests are skipped by name without",
    "conformance": "npm brings it, and its tests are skipped by name without",
}  # fmt: skip
_RUNNERS = {"subprocess.run", "subprocess.Popen", "shutil.which", "self.spawn"}


def programs() -> dict[str, str]:
    """Return every program that tests and scripts name as they run it, and a file that does."""
    found = {}
    for path in [*(ROOT / "tests").rglob("*.py"), *(ROOT / "scripts").glob("*.py")]:
        for node in nodes_of(path):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=owner), attr=name),
                    args=[ast.List(elts=[ast.Constant(value=str(program)), *_]) | ast.Constant(value=str(program)), *_],
                ) if f"{owner}.{name}" in _RUNNERS:
                    found[program.rsplit("/", 1)[-1]] = str(path.relative_to(ROOT))
    return found


def test_every_program_that_tests_run_is_installed_by_setup() -> None:
    """On a bare Debian 12 a whole file of tests failed for want of `ip`."""
    listed = {
        line.strip()
        for name in ("apt-packages", "apt-packages-test")
        for line in (ROOT / "conf" / name).read_text(encoding="utf-8").splitlines()
    }
    run = programs()
    assert {"ip", "Xvfb", "nats-server"} <= run.keys()
    known = {name for name, package in PACKAGES.items() if package in listed} | ESSENTIAL | ASKED_FOR.keys()
    assert {name: path for name, path in run.items() if name not in known} == {}
