"""scripts/test says at its end what failed: one word among thousands of lines is overlooked."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("argument", "failing", "said"), [
    ("tests/unit", (), "==> pytest: tests/unit\n==> all passed\n"),
    ("tests/unit", ("scripts/check",), "==> pytest: tests/unit\n==> failed: scripts/check\n"),
    (
        "tests/unit",
        ("scripts/site", ".venv/bin/pytest"),
        "==> pytest: tests/unit\n==> failed: scripts/site\n==> failed: tests/unit\n",
    ),
    ("-q", (), "==> unit\n==> all passed\n"),
    ("-q", (".venv/bin/pytest",), "==> unit\n==> failed: unit\n"),
])  # fmt: skip
def test_it_ends_with_what_failed(tmp_path: Path, argument: str, failing: tuple[str, ...], said: str) -> None:
    for folder in ("scripts", ".venv/bin", "tests/unit"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "test", tmp_path / "scripts" / "test")
    for name in ("scripts/setup", "scripts/check", "scripts/site", ".venv/bin/pytest"):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {int(name in failing)}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        [tmp_path / "scripts" / "test", argument],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (int(bool(failing)), said)
