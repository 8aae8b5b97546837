"""Keeps log files small: copies one beyond its limit to `<name>.1` and empties it in place; `.1` becomes `.2` …

In place, because children hold it open for appending: after the truncation their next line starts a short file.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from acud.base import log, private_files
from acud.supervisor.core import Core

_LOG = log.logger("logfile")
_CHECK_S = 10.0


def keep_small(core: Core, path: Path) -> None:
    """Check `path` now and every ten seconds, by the settings of that moment."""
    now = core.settings.daemon
    rotate(path, int(now.log_max_mb * 1e6), now.log_files)
    core.loop.call_later(_CHECK_S, lambda: keep_small(core, path))


def rotate(path: Path, max_bytes: int, files: int = 1) -> None:
    """Empty `path` when it is larger than that, after copying its lines to `<name>.1` if there is room.

    Older files move up, to `<name>.<files>` at most. A line written in the microseconds between the copy's end and the
    truncation is lost.
    """
    if not path.exists() or path.stat().st_size <= max_bytes:
        return
    kept = path.with_name(f"{path.name}.1")
    _move_up(path, files)
    try:
        _copy_log(path, kept)
    except OSError as fault:  # a full disk is when the log must shrink all the more
        kept.unlink(missing_ok=True)
        os.truncate(path, 0)
        _LOG.warning("log.lost", reason=fault.strerror)
        return
    os.truncate(path, 0)


def _move_up(path: Path, files: int) -> None:
    for older in path.parent.glob(f"{path.name}.*"):
        number = older.name.removeprefix(f"{path.name}.")
        if number.isascii() and number.isdigit() and int(number) >= files:
            older.unlink()
    for place in range(files - 1, 0, -1):
        older = path.with_name(f"{path.name}.{place}")
        if older.exists():
            older.replace(path.with_name(f"{path.name}.{place + 1}"))


def _copy_log(path: Path, copy: Path) -> None:
    copy.unlink(missing_ok=True)
    written = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with (
        os.fdopen(private_files.open_regular(path), "rb") as source,
        os.fdopen(private_files.open_regular(copy, written), "wb") as target,
    ):
        while source.tell() < path.stat().st_size:  # what was written during the copy is copied too
            shutil.copyfileobj(source, target)
