"""Makes a backup: one view of the database, the requested files, and a manifest with their hashes.

Files are copied only if there is space for all of them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from acud import __version__
from acud.base.errors import Conflict, InvalidRequest, NotFound, Unavailable
from acud.base.paths import Paths, free_bytes, sync
from acud.protocol.archive import MANIFEST, BackupAsk, BackupMade, BackupManifest, FileInBackup
from acud.store import backup

_CHUNK = 1 << 20
_SPARE_BYTES = 16_000_000
DATABASE = "data.db"
VERSION = 1


def copy(source: Path, target: Path, name: str) -> FileInBackup:
    """Copy one file, fsynced, 0600; return its size and hash. Raises: FileNotFoundError, OSError."""
    with source.open("rb") as data:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(opened, "wb") as kept:
            return _copy_hashed(data, kept, name)


def measure(path: Path, name: str) -> FileInBackup:
    with path.open("rb") as data, Path(os.devnull).open("wb") as nowhere:
        return _copy_hashed(data, nowhere, name)


def files_below(folder: Path) -> list[Path]:
    """Return every regular file below `folder`, sorted, without links; none for an absent folder."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def check_room(folder: Path, needed: int) -> None:
    """Raise Unavailable when the file system of `folder` has less room than `needed` bytes and some to spare."""
    free = free_bytes(folder)
    if free < needed + _SPARE_BYTES:
        text = f"{needed / 1e6:.0f} MB are needed in {folder}, and {free / 1e6:.0f} MB are free"
        raise Unavailable(text, hint="free some space there, or name another place")


def back_up(paths: Paths, ask: BackupAsk, now_utc_s: float) -> BackupMade:
    """Make a backup of the instance at `paths`, whose daemon may be running and writing. Raises: Conflict (the target
    exists), NotFound (no database, no folder for the target), StoreUnavailable, OSError, Unavailable (no room).
    """
    target = _check_target(paths, Path(ask.target))
    partial = target.with_name(f".{target.name}.partial")
    _remove(partial)
    partial.mkdir(mode=0o700)
    try:
        manifest = _copy_data_files(paths, ask, partial, now_utc_s)
        made = _make_archive(partial) if target.suffix == ".tar" else partial
        made.rename(target)
    finally:
        _remove(partial)
        _remove(partial.with_suffix(".tar"))
    sync(target.parent)
    return BackupMade(str(target), sum(file.size_bytes for file in manifest.files), manifest)


def has_files_of(files: tuple[FileInBackup, ...], folder: str) -> bool:
    return any(file.path.startswith(f"{folder}/") for file in files)


def _copy_hashed(data: IO[bytes], output: IO[bytes], name: str) -> FileInBackup:
    digest, size = hashlib.sha256(), 0
    while chunk := data.read(_CHUNK):
        digest.update(chunk)
        output.write(chunk)
        size += len(chunk)
    output.flush()
    if output.name != os.devnull:
        os.fsync(output.fileno())
    return FileInBackup(name, size, digest.hexdigest())


def _check_target(paths: Paths, target: Path) -> Path:
    if not target.is_absolute():
        raise InvalidRequest(f"not an absolute path: {target}")
    if not target.parent.is_dir():
        raise NotFound(f"no folder {target.parent}", hint="make it, or name another place")
    if target.exists() or target.is_symlink():
        raise Conflict(f"{target} is there already", hint="name another place, or remove it")
    if not paths.database.exists():
        raise NotFound(f"no database {paths.database}", hint="is ACU_HOME the one you mean?")
    return target


def _copy_data_files(paths: Paths, ask: BackupAsk, folder: Path, now_utc_s: float) -> BackupManifest:
    wanted = [
        *(files_below(paths.evidence) if ask.evidence else ()),
        *(files_below(paths.recordings) if ask.recordings else ()),
    ]
    check_room(folder, _sum_sizes(wanted) + paths.database.stat().st_size)
    # The database first: files that its rows name still exist, or retention removed them since.
    migration = backup.copy_file(paths.database, folder / DATABASE)
    files, skipped = [measure(folder / DATABASE, DATABASE)], []
    for path in wanted:
        name = path.relative_to(paths.home).as_posix()
        try:
            files.append(copy(path, folder / name, name))
        except FileNotFoundError:
            skipped.append(name)
    manifest = BackupManifest(VERSION, __version__, now_utc_s, migration, tuple(files), tuple(skipped))
    _write_manifest(folder, manifest)
    return manifest


def _write_manifest(folder: Path, manifest: BackupManifest) -> None:
    draft = folder / f".{MANIFEST}"
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
    copy(draft, folder / MANIFEST, MANIFEST)
    draft.unlink()
    sync(*(path for path in folder.rglob("*") if path.is_dir()), folder)


def _make_archive(folder: Path) -> Path:
    packed = folder.with_suffix(".tar")
    with tarfile.open(packed, "x") as archive:
        for path in files_below(folder):
            archive.add(path, path.relative_to(folder).as_posix(), recursive=False)
    sync(packed)
    return packed


def _sum_sizes(files: list[Path]) -> int:
    total = 0
    for path in files:
        with suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
