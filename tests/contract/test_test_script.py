"""scripts/test says at its end what failed: one word among thousands of lines is overlooked."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        ((), "==> all passed\n"),
        (("scripts/check",), "==> failed: scripts/check\n"),
        (("scripts/site", ".venv/bin/pytest"), "==> failed: scripts/site\n==> failed: tests/unit\n"),
    ],
)
def test_it_ends_with_what_failed(tmp_path: Path, failing: tuple[str, ...], said: str) -> None:
    for folder in ("scripts", ".venv/bin", "tests/unit"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "test", tmp_path / "scripts" / "test")
    for name in ("scripts/setup", "scripts/check", "scripts/site", ".venv/bin/pytest"):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {int(name in failing)}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        [tmp_path / "scripts" / "test", "tests/unit"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (int(bool(failing)), f"==> pytest: tests/unit\n{said}")
