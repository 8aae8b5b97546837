"""SQLite's faults as ours: the one border where `apsw` exceptions end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from acud.base.errors import AcudError, Conflict, InternalError, StoreUnavailable
from acud.base.paths import free_bytes

_NO_ROOM_BYTES = 64 * 1024

_FAULTS: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.BusyError, "locked"),
    (apsw.LockedError, "locked"),
    (apsw.ProtocolError, "locked"),
    (apsw.FullError, "full"),
    (apsw.ReadOnlyError, "read_only"),
    (apsw.CorruptError, "corrupt"),
    (apsw.NotADBError, "not_a_database"),
    (apsw.CantOpenError, "cannot_open"),
    (apsw.PermissionsError, "cannot_open"),
    (apsw.IOError, "io"),
    (apsw.NoMemError, "memory"),
)

_NEXT_STEP = {
    "locked": "another process holds it: end that process, or set ACU_HOME to a directory of its own",
    "full": "free some space on its file system, then repeat",
    "read_only": "make the file and its directory writable for this user, or set ACU_HOME elsewhere",
    "corrupt": "stop the daemon and restore a copy, or move data.db, data.db-wal and data.db-shm away to start anew",
    "not_a_database": "move the file away, or set ACU_HOME elsewhere",
    "foreign": "it is an existing daemon's data.db: move it, or set ACU_HOME to a directory of acud's own",
    "newer_schema": "start the acud that wrote it, or restore a copy from before the upgrade: see backups/ beside it",
    "migration": "nothing was changed: start the acud that wrote it, which still can, and report this",
    "cannot_open": "check that the directory exists and that this user may write there",
    "io": "check the disk and the system log",
    "log": "start the daemon: it keeps the files as they are in rescue/ beside it, and acud doctor says what is gone",
    "memory": "free some memory",
}

_WORDS = {
    "locked": "is locked by another process",
    "full": "cannot grow: its file system is full",
    "read_only": "cannot be written",
    "corrupt": "is corrupt",
    "not_a_database": "is not an SQLite database",
    "foreign": "belongs to another program",
    "newer_schema": "was written by a newer acud",
    "migration": "cannot be brought to this acud's schema",
    "cannot_open": "cannot be opened",
    "io": "cannot be read or written",
    "log": "has a damaged write-ahead log",
    "memory": "needs more memory than there is",
}


def unavailable(fault: str, path: Path, detail: str) -> StoreUnavailable:
    """Return the error for `fault` (a key above) of the file at `path`, with the next step."""
    return StoreUnavailable(f"{path} {_WORDS[fault]}: {detail}", hint=_NEXT_STEP[fault], fault=fault, path=str(path))


@contextmanager
def translate_faults(path: Path) -> Iterator[None]:
    """Turn every `apsw.Error` raised inside into an error of acud's tree, keeping the cause."""
    try:
        yield
    except apsw.Error as fault:
        raise from_sqlite(fault, path) from fault


def from_sqlite(fault: apsw.Error, path: Path) -> AcudError:
    """Return `fault` as StoreUnavailable, as Conflict (a constraint), or as InternalError (our statement is wrong)."""
    if isinstance(fault, apsw.ConstraintError):
        return Conflict(f"the store already says otherwise: {fault}")
    name = next((name for kind, name in _FAULTS if isinstance(fault, kind)), None)
    if name is None:
        return InternalError(f"{path.name}: {type(fault).__name__}: {fault}")
    return unavailable(_look_closer(name, path), path, str(fault))


def _look_closer(name: str, path: Path) -> str:
    # SQLite reports "unable to open" or "disk I/O error"; the file system's state gives the reason.
    if name == "cannot_open" and path.parent.is_dir() and not os.access(path.parent, os.W_OK):
        return "read_only"
    if name in ("io", "cannot_open") and path.parent.is_dir() and free_bytes(path.parent) < _NO_ROOM_BYTES:
        return "full"
    return name
