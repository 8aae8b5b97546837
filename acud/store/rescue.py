"""What a damaged log lost, kept beside the database: the files as they were found, and a note of what is gone.

A folder of `rescue/` stays until somebody removes it; until then the loss is told (`acud doctor`).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec
from msgspec import Struct

from acud.clock import utc_iso
from acud.store.faults import unavailable
from acud.store.wal import Loss

FOLDER = "rescue"
_NOTE = "lost.json"
_SPARE_BYTES = 16_000_000


class Kept(Struct, frozen=True):
    """One loss. `folder`: where data.db, data.db-wal and data.db-shm lie as they were found."""

    folder: str
    found_utc_s: float
    loss: Loss

    def words(self) -> str:
        """Return what is gone, in one line."""
        loss = self.loss
        return (
            f"the write-ahead log was damaged ({loss.reason}): at least {loss.commits} committed transactions "
            f"({loss.frames} pages) were lost before {utc_iso(self.found_utc_s)}; the files as they were: {self.folder}"
        )


FIX = (
    "acud wait list --all shows what is left: arm again what is missing, or acud restore a backup; "
    "then remove that folder"
)


def keep(path: Path, loss: Loss, now_utc_s: float) -> Kept:
    """Copy the database at `path` and its log to a folder of their own, and return it; the same log is kept once.

    Raises: StoreUnavailable (`full`, `cannot_open`): nothing may be opened that would be the end of the log.
    """
    folder = path.parent / FOLDER / f"log-{loss.salts}"
    note = folder / _NOTE
    try:
        if note.exists():
            return _read(note)
        return _copied(path, folder, Kept(str(folder), now_utc_s, loss))
    except OSError as fault:
        raise unavailable("cannot_open", folder, f"the copy of a damaged log: {fault.strerror}") from fault


def _copied(path: Path, folder: Path, kept: Kept) -> Kept:
    files = [path.with_name(path.name + end) for end in ("", "-wal", "-shm")]
    present = [file for file in files if file.exists()]
    _check_room(path, sum(file.stat().st_size for file in present))
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    for file in present:
        _write(folder / file.name, file)
    draft = folder / f".{_NOTE}"
    draft.write_bytes(msgspec.json.encode(kept))
    draft.chmod(0o600)
    draft.replace(folder / _NOTE)
    for place in (folder / _NOTE, folder, folder.parent):
        _sync(place)
    return kept


def _check_room(path: Path, needed: int) -> None:
    room = os.statvfs(path.parent)
    free = room.f_bavail * room.f_frsize
    if free < needed + _SPARE_BYTES:
        detail = f"its log is damaged; a copy of both needs {needed / 1e6:.0f} MB, and {free / 1e6:.0f} MB are free"
        raise unavailable("full", path, detail)


def _write(target: Path, source: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o600)
    _sync(target)


def _sync(place: Path) -> None:
    opened = os.open(place, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def kept(home: Path) -> tuple[Kept, ...]:
    """Return the losses whose files still lie below `home`, oldest first."""
    found = [_read(note) for note in sorted((home / FOLDER).glob(f"*/{_NOTE}"))]
    return tuple(sorted(found, key=lambda one: one.found_utc_s))


def _read(note: Path) -> Kept:
    """Return what was noted; of a note that cannot be read, that there was a loss: its folder alone tells that."""
    try:
        return msgspec.json.decode(note.read_bytes(), type=Kept)
    except (OSError, msgspec.MsgspecError) as fault:
        found_utc_s = note.parent.stat().st_mtime if note.parent.exists() else 0.0
        reason = f"the note of what is gone cannot be read: {fault}"
        return Kept(str(note.parent), found_utc_s, Loss(1, 1, reason, note.parent.name))
