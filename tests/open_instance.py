"""An instance of which only ACU_HOME closes the way, for what is said of files that others can reach."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from acud.base.paths import Paths, resolve


@contextmanager
def open_instance() -> Iterator[Paths]:
    """Give the paths of an instance that nobody runs: every directory above its home lets everybody in."""
    with tempfile.TemporaryDirectory(prefix="acud-test-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        home = Path(folder, "home")
        home.mkdir(0o700)
        made = resolve({"ACU_HOME": str(home)})
        yield made
        shutil.rmtree(made.shm, ignore_errors=True)


def put(path: Path, mode: int, text: str = "x") -> Path:
    """Write `path`, folders above it included, with exactly that mode; return it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path
