"""Environments of their own for other people's servers, each made from the hashed lock beside its tests."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[1]


def environment(folder: Path) -> Path:
    """Return the interpreter of the environment of `folder`, made anew when the requirements.lock there changed."""
    lock, home = folder / "requirements.lock", _ROOT / ".state" / folder.name
    stamp, wanted = home / ".lock", hashlib.sha256(lock.read_bytes()).hexdigest()
    python = home / "bin" / "python"
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    uv = [str(_ROOT / ".tools" / "bin" / "uv")]
    env = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "UV_SYSTEM_CERTS": "1", "UV_NO_PROGRESS": "1"}
    subprocess.run([*uv, "venv", "--no-config", "-q", "--clear", "-p", sys.executable, str(home)], env=env, check=True)
    install = ["pip", "install", "--no-config", "-q", "-p", str(python), "--require-hashes", "-r", str(lock)]
    subprocess.run([*uv, *install], env=env, check=True)
    stamp.write_text(wanted)
    return python
