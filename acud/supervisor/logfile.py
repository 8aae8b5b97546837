"""Keeps the log file small: beyond its limit it is copied to `debug.log.1` and emptied in place.

In place, because children hold it open for appending: after the truncation their next line starts a short file.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from acud.loop import Loop

_CHECK_S = 10.0


def keep_small(loop: Loop, path: Path, max_mb: float) -> None:
    """Check `path` every ten seconds, now included."""
    if path.exists() and path.stat().st_size > max_mb * 1e6:
        shutil.copyfile(path, path.with_suffix(".log.1"))
        os.truncate(path, 0)
    loop.call_later(_CHECK_S, lambda: keep_small(loop, path, max_mb))
