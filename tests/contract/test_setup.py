"""scripts/setup leaves alone what is set up, whoever calls it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
OWN = f"{ROOT}/.venv/bin"


def checked(path: list[str]) -> tuple[int, str, str]:
    """Return what `scripts/setup --check` says with that PATH."""
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
