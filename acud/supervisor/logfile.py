"""Keeps log files small: beyond its limit a file is copied to `<name>.1` and emptied in place.

In place, because children hold it open for appending: after the truncation their next line starts a short file.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from acud import log
from acud.loop import Loop

_LOG = log.logger("logfile")
_CHECK_S = 10.0


def keep_small(loop: Loop, path: Path, max_mb: float) -> None:
    """Check `path` every ten seconds, now included."""
    rotate(path, int(max_mb * 1e6))
    loop.call_later(_CHECK_S, lambda: keep_small(loop, path, max_mb))


def rotate(path: Path, max_bytes: int) -> None:
    """Empty `path` when it is larger than that, its lines kept in `<name>.1`; where there is no room for them, they go.

    A line that is written between the copy's end and the truncation is lost; that is some microseconds.
    """
    if not path.exists() or path.stat().st_size <= max_bytes:
        return
    kept = path.with_name(f"{path.name}.1")
    try:
        _copy(path, kept)
    except OSError as fault:  # a full disk is when the log must shrink all the more
        kept.unlink(missing_ok=True)
        os.truncate(path, 0)
        _LOG.warning("log.lost", reason=fault.strerror)
        return
    os.truncate(path, 0)


def _copy(path: Path, kept: Path) -> None:
    with path.open("rb") as source, kept.open("wb") as target:
        kept.chmod(0o600)
        while source.tell() < path.stat().st_size:  # what was written during the copy is copied too
            shutil.copyfileobj(source, target)
