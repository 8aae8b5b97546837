"""gptme as its users install it: the published package in an environment of its own, for tests and benchmarks."""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path

PACKAGE = "gptme==0.35.1"
_INSTALL_S = 400


class NotInstallable(Exception):
    """The package can't be had here; the message says why."""


def install(folder: Path) -> Path:
    """Install into `folder` unless it is there already; return the folder of its programs.

    Raises: NotInstallable.
    """
    programs = folder / "bin"
    stamp = folder / "installed"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == PACKAGE:
        return programs
    venv.create(folder, clear=True, with_pip=True)
    asked = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=_INSTALL_S)
    except subprocess.TimeoutExpired:
        raise NotInstallable(f"pip did not install {PACKAGE} within {_INSTALL_S} s") from None
    if done.returncode:
        why = next((line for line in done.stderr.splitlines() if line.startswith("ERROR")), "no reason given")
        raise NotInstallable(f"pip can't install {PACKAGE}: {why}")
    stamp.write_text(PACKAGE, encoding="utf-8")
    return programs
