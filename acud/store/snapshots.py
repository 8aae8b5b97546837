"""Copies of a database by SQLite's backup API, made while its owner may be writing (sqlite.org/backup.html)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw

from acud.store import statements
from acud.store.faults import unavailable

_SQL = statements.load("migrations")
_STEP_PAGES = 1000
_SPARE_BYTES = 16_000_000
"""Left free beside a copy: for what is written meanwhile."""
_GLOB = "before-*.db"


def before_upgrade(connection: apsw.Connection, path: Path, step: str, keep: int) -> Path:
    """Copy the database at `path` to `backups/before-<step>.db` beside it, and keep the newest `keep` such copies.

    One that an earlier try made of the same upgrade is replaced.
    Raises: StoreUnavailable(`full`, `corrupt`, `cannot_open`), apsw.Error.
    """
    folder = path.parent / "backups"
    made = folder / f"before-{step}.db"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        copy(connection, path, made)
        copies = sorted(folder.glob(_GLOB), key=lambda one: one.stat().st_mtime_ns, reverse=True)
        for old in copies[keep:]:
            old.unlink()
    except OSError as fault:
        raise unavailable("cannot_open", made, f"the copy before the upgrade: {fault.strerror}") from fault
    return made


def copy(connection: apsw.Connection, path: Path, target: Path) -> None:
    """Copy what `connection` (of the database at `path`) sees now to the file `target`, whole or not at all.

    The copy is one plain file (no write-ahead log), checked, fsynced, 0600. Blocks for the disk; writers of other
    connections go on. Raises: StoreUnavailable(`full`, `corrupt`), apsw.Error.
    """
    partial = target.with_name(f".{target.name}.partial")
    _clear(partial)
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with _one_view(connection):
            _check_room(connection, path, target.parent)
            _copy(connection, partial, target)
        _settle(partial, target)
    except BaseException:
        _clear(partial)
        raise


@contextmanager
def _one_view(connection: apsw.Connection) -> Iterator[None]:
    # A read transaction held over all steps: else a writer elsewhere would make each step begin the copy anew.
    connection.execute("BEGIN")
    try:
        connection.execute(_SQL["user_tables"]).get  # noqa: B018 - the read takes the snapshot
        yield
    finally:
        connection.execute("ROLLBACK")


def _check_room(connection: apsw.Connection, path: Path, folder: Path) -> None:
    needed = int(connection.pragma("page_count")) * int(connection.pragma("page_size")) + _SPARE_BYTES
    room = os.statvfs(folder)
    free = room.f_bavail * room.f_frsize
    if free < needed:
        detail = f"a copy in {folder} needs {needed / 1e6:.0f} MB, and {free / 1e6:.0f} MB are free"
        raise unavailable("full", path, detail)


def _copy(connection: apsw.Connection, partial: Path, target: Path) -> None:
    with closing(apsw.Connection(str(partial))) as made:
        with made.backup("main", connection, "main") as backup:
            while not backup.done:
                backup.step(_STEP_PAGES)
        made.pragma("journal_mode", "delete")
        found = made.execute("PRAGMA quick_check(1)").get
    if found != "ok":
        raise unavailable("corrupt", target, str(found))


def _settle(partial: Path, target: Path) -> None:
    for place in (partial, target.parent):
        if place == target.parent:
            partial.replace(target)
        opened = os.open(place, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _clear(partial: Path) -> None:
    for name in (partial.name, f"{partial.name}-journal", f"{partial.name}-wal", f"{partial.name}-shm"):
        with suppress(FileNotFoundError):
            partial.with_name(name).unlink()
