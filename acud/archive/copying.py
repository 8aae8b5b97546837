"""Files copied with their hashes, and room for them looked at before."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import IO

from acud.errors import Unavailable
from acud.protocol.archive import FileInBackup

_CHUNK = 1 << 20
_SPARE_BYTES = 16_000_000


def copy(source: Path, target: Path, name: str) -> FileInBackup:
    """Copy one file, fsynced, 0600; return what it is. Raises: FileNotFoundError, OSError."""
    with source.open("rb") as data:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(opened, "wb") as kept:
            return _poured(data, kept, name)


def measured(path: Path, name: str) -> FileInBackup:
    """Return what the file at `path` is."""
    with path.open("rb") as data, Path(os.devnull).open("wb") as nowhere:
        return _poured(data, nowhere, name)


def _poured(data: IO[bytes], kept: IO[bytes], name: str) -> FileInBackup:
    digest, size = hashlib.sha256(), 0
    while chunk := data.read(_CHUNK):
        digest.update(chunk)
        kept.write(chunk)
        size += len(chunk)
    kept.flush()
    if kept.name != os.devnull:
        os.fsync(kept.fileno())
    return FileInBackup(name, size, digest.hexdigest())


def files_below(folder: Path) -> list[Path]:
    """Return every regular file below `folder`, sorted; links are left out. An absent folder has none."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def check_room(folder: Path, needed: int) -> None:
    """Raises: Unavailable when the file system of `folder` has less room than `needed` bytes and some to spare."""
    room = os.statvfs(folder)
    free = room.f_bavail * room.f_frsize
    if free < needed + _SPARE_BYTES:
        text = f"{needed / 1e6:.0f} MB are needed in {folder}, and {free / 1e6:.0f} MB are free"
        raise Unavailable(text, hint="free some space there, or name another place")


def sync(*folders: Path) -> None:
    """Have the names in `folders` on the disk."""
    for folder in folders:
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
