"""Packages from npm, for the tests of other people's programs. Such a test is skipped where npm can't install them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

INSTALL = ("npm", "install", "--no-fund", "--no-audit", "--loglevel=error")


def install(folder: Path, *packages: str, env: Mapping[str, str] | None = None) -> Path:
    """Install the packages into `folder` and return the folder of their programs."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    run(folder, *INSTALL, *packages, env=env)
    return folder / "node_modules" / ".bin"


def run(folder: Path, *command: str, env: Mapping[str, str] | None = None) -> None:
    """Run a step of an installation in `folder`."""
    try:
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=400)
    except subprocess.TimeoutExpired:
        pytest.skip(f"{' '.join(command)}: not done within 400 s")
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        pytest.skip(f"{' '.join(command)}: {said}")
