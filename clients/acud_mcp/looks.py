"""Pictures for agents, as files under ACU_HOME/looks: private, and swept so that they can't fill a disk."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from acud.ids import new_id
from acud.paths import Paths, make_private

KEEP = 200
KEEP_S = 24 * 3600.0


def save(paths: Paths, image: bytes, suffix: str) -> Path:
    """Write `image` to a new file, whole or not at all, and return its path; older pictures are swept."""
    folder = paths.home / "looks"
    make_private(folder)
    sweep(folder, time.time())
    path = folder / f"{new_id('look')}.{suffix}"
    partial = path.with_suffix(".part")
    opened = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(opened, "wb") as file:
        file.write(image)
    partial.replace(path)
    return path


def sweep(folder: Path, now_utc_s: float) -> None:
    """Remove what is older than `KEEP_S`, and all but the newest `KEEP` - 1 pictures."""
    dated = []
    for path in folder.glob("look*"):
        with contextlib.suppress(FileNotFoundError):
            dated.append((path.stat().st_mtime, path))
    newest = sorted(dated, reverse=True)
    for number, (mtime, path) in enumerate(newest):
        if number >= KEEP - 1 or now_utc_s - mtime > KEEP_S:
            path.unlink(missing_ok=True)
