"""Restores a backup: copies and verifies it as a whole beside the present state, then swaps it in by renames."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import msgspec

from acud.archive.backup import DATABASE, VERSION, check_room, copy, files_below, has_files_of
from acud.base import private_files
from acud.base.errors import InvalidRequest, NotFound
from acud.base.paths import Paths, make_private, sync
from acud.base.typed_values import decode_json
from acud.base.value_errors import describe_decode_fault
from acud.protocol.archive import MANIFEST, BackupManifest, Compacted, FileInBackup, RestoreAsk, Restored
from acud.store import backup
from acud.supervisor.instance import InstanceLock

_CHECKING = ".checking-"
_FOLDERS = ("evidence", "recordings")
_LARGEST_MANIFEST = 256_000_000


def restore(paths: Paths, ask: RestoreAsk, now_utc_s: float) -> Restored:
    """Verify the backup and, unless `check`, put it in place; the former state is kept aside.

    A folder that the backup does not hold (evidence, recordings) stays as it is. Raises: Conflict while a daemon runs
    (not for `check`), NotFound, InvalidRequest (not a backup, a file is missing, differs or has a bad name),
    StoreUnavailable, Refused (other users can write to ACU_HOME), OSError.
    """
    source = Path(ask.source)
    if not source.exists():
        raise NotFound(f"no backup {source}")
    private_files.check_instance(paths)
    make_private(paths.home)
    if ask.check:
        with _make_stage(_find_checking_place(paths.home)) as stage:
            files, migration = _copy_and_verify(source, stage)
        return Restored(str(source), migration, len(files), "")
    with _hold_lock(paths):
        backup.finish_swap(paths.home)
        with _make_stage(paths.home / backup.STAGE) as stage:
            files, migration = _copy_and_verify(source, stage)
            aside = _put_backup_in_place(paths, stage, files, now_utc_s)
    return Restored(str(source), migration, len(files), aside)


def _find_checking_place(home: Path) -> Path:
    """Return this process's folder for a check, after removing those of processes that are gone."""
    for left in home.glob(f"{_CHECKING}*"):
        pid = left.name.removeprefix(_CHECKING)
        if not Path("/proc", pid).exists():
            shutil.rmtree(left, ignore_errors=True)
    return home / f"{_CHECKING}{os.getpid()}"


@contextmanager
def _make_stage(place: Path) -> Iterator[Path]:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(mode=0o700)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _copy_and_verify(source: Path, stage: Path) -> tuple[tuple[FileInBackup, ...], str]:
    """Copy the backup to `stage` and verify it; return its files and its newest migration."""
    files = _copy_to_stage(source, stage)
    return files, backup.verify(stage / DATABASE)


def compact(paths: Paths) -> Compacted:
    """Rewrite the database. Raises: Conflict while a daemon runs, NotFound, StoreUnavailable, Unavailable."""
    if not paths.database.exists():
        raise NotFound(f"no database {paths.database}", hint="is ACU_HOME the one you mean?")
    with _hold_lock(paths):
        backup.finish_swap(paths.home)
        before = paths.database.stat().st_size
        check_room(paths.home, 2 * before)
        backup.compact(paths.database)
        return Compacted(before, paths.database.stat().st_size)


@contextmanager
def _hold_lock(paths: Paths) -> Iterator[None]:
    lock = InstanceLock(paths.lock)
    try:
        yield
    finally:
        lock.release()


def _copy_to_stage(source: Path, stage: Path) -> tuple[FileInBackup, ...]:
    """Copy the backup to `stage` and verify every file against the manifest; return the files."""
    check_room(stage, _estimate_size(source))
    if source.is_dir():
        return _from_folder(source, stage)
    if source.suffix == ".tar":
        unpacked = stage / ".unpacked"
        try:
            with tarfile.open(source, "r:") as archive:
                _unpack_archive(archive, unpacked)
        except (tarfile.TarError, FileExistsError, NotADirectoryError) as fault:
            raise _build_fault(f"{source} cannot be unpacked: {fault}") from fault
        files = _from_folder(unpacked, stage)
        shutil.rmtree(unpacked)
        return files
    return (copy(source, stage / DATABASE, DATABASE),)  # only a database: the copy made before an upgrade


def _from_folder(source: Path, stage: Path) -> tuple[FileInBackup, ...]:
    manifest = parse_manifest(_read_manifest(source / MANIFEST))
    for file in manifest.files:
        try:
            found = copy(source / file.path, stage / file.path, file.path)
        except FileNotFoundError as fault:
            raise _build_fault(f"{file.path} is missing") from fault
        _check_against_manifest(file, found)
    return manifest.files


def _unpack_archive(archive: tarfile.TarFile, folder: Path) -> None:
    """Write the files of `archive` below `folder`, and nothing else. (`extractall(filter=…)` needs Python 3.11.4.)"""
    folder.mkdir(mode=0o700)
    for member in archive:
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts or not (member.isfile() or member.isdir()):
            raise _build_fault(f"it holds {member.name[:80]!r}, which is no file of a backup")
        content = archive.extractfile(member)
        if content is not None:
            target = folder / name
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with target.open("xb") as file:
                shutil.copyfileobj(content, file)


def _read_manifest(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST_MANIFEST)
    except FileNotFoundError as fault:
        raise _build_fault(f"it has no {MANIFEST}") from fault


def parse_manifest(data: bytes) -> BackupManifest:
    try:
        manifest = decode_json(data, BackupManifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise _build_fault(describe_decode_fault(fault, BackupManifest, f"its {MANIFEST}")) from fault
    if manifest.version != VERSION:
        raise _build_fault(f"it is of version {manifest.version}, and this acud reads {VERSION}")
    for file in manifest.files:
        parts = PurePosixPath(file.path).parts
        known = file.path == DATABASE or (len(parts) > 1 and parts[0] in _FOLDERS)
        if not known or ".." in parts or "\0" in file.path or "/".join(parts) != file.path:
            raise _build_fault(f"it names a file {file.path[:80]!r}")
    if DATABASE not in {file.path for file in manifest.files}:
        raise _build_fault(f"it holds no {DATABASE}")
    return manifest


def _check_against_manifest(entry: FileInBackup, file: FileInBackup) -> None:
    if (entry.size_bytes, entry.sha256) != (file.size_bytes, file.sha256):
        raise _build_fault(f"{entry.path} is not what the {MANIFEST} says (size or SHA-256)")


def _build_fault(what: str) -> InvalidRequest:
    return InvalidRequest(f"not a whole backup: {what}", hint="nothing was replaced; use another backup")


def _put_backup_in_place(paths: Paths, stage: Path, files: tuple[FileInBackup, ...], now_utc_s: float) -> str:
    for folder in _FOLDERS:
        if not has_files_of(files, folder):
            _link(paths.home / folder, stage / folder)
    sync(*(path for path in stage.rglob("*") if path.is_dir()), stage)
    stamp = datetime.fromtimestamp(now_utc_s, UTC).strftime("%Y%m%dT%H%M%SZ")
    aside = f"replaced-{stamp}"
    backup.begin_swap(paths.home, aside)
    backup.finish_swap(paths.home)
    return str(paths.home / aside)


def _link(source: Path, target: Path) -> None:
    """Hard-link the files of `source` into `target`: if the store deletes them in `target`, `source` keeps them."""
    for path in files_below(source):
        linked = target / path.relative_to(source)
        linked.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.link(path, linked)


def _estimate_size(source: Path) -> int:
    if source.is_dir():
        return sum(path.stat().st_size for path in files_below(source))
    return source.stat().st_size * (2 if source.suffix == ".tar" else 1)
