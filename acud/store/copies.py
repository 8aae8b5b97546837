"""The store as a file among files: copied while in use, verified, written anew."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw

from acud.store import migration, snapshots, statements
from acud.store.faults import translated, unavailable
from acud.store.opening import APPLICATION_ID, refuse_damaged_log

_SQL = statements.load("migrations")
_BUSY_MS = 10_000


def copy_file(path: Path, target: Path) -> str:
    """Copy the store at `path`, which its daemon may be writing, to `target`; return its newest migration's name.

    Raises: StoreUnavailable (also `foreign`, for a database that is not acud's).
    """
    with translated(path), closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_timeout(_BUSY_MS)
        newest = _newest(connection, path)
        snapshots.copy(connection, path, target)
        return newest


def verify(path: Path) -> str:
    """Check every page, index and constraint of the copy at `path`, and that this acud knows its tables.

    Returns its newest migration's name. Raises: StoreUnavailable (`corrupt`, `foreign`, `not_a_database`,
    `newer_schema`).
    """
    as_it_is = f"{path.absolute().as_uri()}?immutable=1"  # no locks, no journals (sqlite.org/uri.html)
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with translated(path), closing(apsw.Connection(as_it_is, flags=flags)) as found:
        newest = _newest(found, path)
        migration.check(_applied(found), migration.known(), path)
        words = found.execute("PRAGMA integrity_check(1)").get
        if words != "ok":
            raise unavailable("corrupt", path, str(words))
        return newest


def compact(path: Path) -> None:
    """Write the database at `path`, which nobody has open, anew without free pages; later ones can be given back.

    Raises: StoreUnavailable.
    """
    refuse_damaged_log(path)
    with translated(path), closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        _newest(connection, path)
        connection.pragma("auto_vacuum", "incremental")
        connection.execute("VACUUM")
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def _newest(connection: apsw.Connection, path: Path) -> str:
    found = int(connection.pragma("application_id"))
    if found != APPLICATION_ID:
        raise unavailable("foreign", path, f"application id {found:#010x}")
    return list(_applied(connection).values())[-1]


def _applied(connection: apsw.Connection) -> dict[int, str]:
    return {int(number): str(name) for number, name in connection.execute(_SQL["applied"])}
