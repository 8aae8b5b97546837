"""A backup: one view of the database, the files that were asked for, and a manifest with their hashes.

It comes into being beside its place under a name of its own and is renamed when all of it is on the disk.
"""

from __future__ import annotations

import shutil
import tarfile
from contextlib import suppress
from pathlib import Path

import msgspec

from acud import __version__
from acud.archive import copying
from acud.errors import Conflict, InvalidRequest, NotFound
from acud.paths import Paths
from acud.protocol.archive import MANIFEST, BackupAsk, BackupMade, BackupManifest, FileInBackup
from acud.store import backup

DATABASE = "data.db"
VERSION = 1


def back_up(paths: Paths, ask: BackupAsk, now_utc_s: float) -> BackupMade:
    """Make a backup of the instance at `paths`, whose daemon may be running and writing.

    Raises: Conflict (something is there), NotFound (no database, no folder to put it in), StoreUnavailable, OSError,
    Unavailable (no room).
    """
    target = _target(paths, Path(ask.target))
    partial = target.with_name(f".{target.name}.partial")
    _remove(partial)
    partial.mkdir(mode=0o700)
    try:
        manifest = _filled(paths, ask, partial, now_utc_s)
        made = _packed(partial) if target.suffix == ".tar" else partial
        made.rename(target)
    finally:
        _remove(partial)
        _remove(partial.with_suffix(".tar"))
    copying.sync(target.parent)
    return BackupMade(str(target), sum(file.size_bytes for file in manifest.files), manifest)


def _target(paths: Paths, target: Path) -> Path:
    if not target.is_absolute():
        raise InvalidRequest(f"not an absolute path: {target}")
    if not target.parent.is_dir():
        raise NotFound(f"no folder {target.parent}", hint="make it, or name another place")
    if target.exists() or target.is_symlink():
        raise Conflict(f"{target} is there already", hint="name another place, or remove it")
    if not paths.database.exists():
        raise NotFound(f"no database {paths.database}", hint="is ACU_HOME the one you mean?")
    return target


def _filled(paths: Paths, ask: BackupAsk, folder: Path, now_utc_s: float) -> BackupManifest:
    wanted = [
        *(copying.files_below(paths.evidence) if ask.evidence else ()),
        *(copying.files_below(paths.recordings) if ask.recordings else ()),
    ]
    copying.check_room(folder, _size(wanted) + paths.database.stat().st_size)
    # The database first: what its rows name is there still, or retention took it since.
    migration = backup.copy_file(paths.database, folder / DATABASE)
    files, skipped = [copying.measured(folder / DATABASE, DATABASE)], []
    for path in wanted:
        name = path.relative_to(paths.home).as_posix()
        try:
            files.append(copying.copy(path, folder / name, name))
        except FileNotFoundError:
            skipped.append(name)
    manifest = BackupManifest(VERSION, __version__, now_utc_s, migration, tuple(files), tuple(skipped))
    _write(folder, manifest)
    return manifest


def _write(folder: Path, manifest: BackupManifest) -> None:
    draft = folder / f".{MANIFEST}"
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
    copying.copy(draft, folder / MANIFEST, MANIFEST)
    draft.unlink()
    copying.sync(*(path for path in folder.rglob("*") if path.is_dir()), folder)


def _packed(folder: Path) -> Path:
    packed = folder.with_suffix(".tar")
    with tarfile.open(packed, "x") as archive:
        for path in copying.files_below(folder):
            archive.add(path, path.relative_to(folder).as_posix(), recursive=False)
    copying.sync(packed)
    return packed


def _size(files: list[Path]) -> int:
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


def named(files: tuple[FileInBackup, ...], folder: str) -> bool:
    """Tell whether a backup holds any file of `folder`."""
    return any(file.path.startswith(f"{folder}/") for file in files)
