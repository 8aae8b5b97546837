"""Open `data.db`: check that it is ours, whole, writable and of a known schema; then complete its schema.

Nothing is written before the first two checks: another program's database stays as it was, byte for byte, and so does a
damaged one.
"""

from __future__ import annotations

from pathlib import Path

import apsw

from acud.base.errors import StoreUnavailable
from acud.store import damaged_log, migration, rows
from acud.store.faults import translate_faults, unavailable

APPLICATION_ID = 0x61637564
"""Ours, in bytes 68..71 of the file (sqlite.org/fileformat2.html#the_database_header): "acud"."""
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_SQL = rows.load("migrations")
_OPEN = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE


def open_database(
    path: Path,
    *,
    busy_timeout_s: float,
    now_utc_s: float,
    keep_backups: int = 3,
    drop_log: bool = False,
    steps: tuple[migration.Migration, ...] | None = None,
) -> apsw.Connection:
    """Return a writable connection to the store at `path`, made when absent, with the schema of `steps` (default: all
    known).

    `drop_log`: its log is damaged and was kept elsewhere; the part that SQLite can still read is applied, the rest
    dropped. Reads every page once (`quick_check`). Raises: StoreUnavailable with `fault` among its facts: `foreign`,
    `not_a_database`, `corrupt`, `newer_schema`, `migration`, `read_only`, `locked`, `full`, `cannot_open`, `io`.
    """
    _refuse_foreign(path)
    with translate_faults(path):
        connection = apsw.Connection(str(path), flags=_OPEN)
        try:
            # Until all checks have passed, closing leaves the log as it is: a refused database stays as it was.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            _prepare_file(connection, path, busy_timeout_s)
            if drop_log:
                # Else the next writes would precede the lost frames, which would be found lost again.
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
            migration.migrate(connection, path, now_utc_s, steps, keep_backups=keep_backups)
        except BaseException:
            connection.close()
            raise
    return connection


def keep_damaged_log(path: Path, now_utc_s: float) -> damaged_log.RescuedLog | None:
    """Return what a damaged log of the store at `path` loses when opened, after copying its files; None: nothing. This
    process does not have it open. Raises: StoreUnavailable, also where there is no room for the copy.
    """
    _refuse_foreign(path)
    loss = _find_loss(path)
    return damaged_log.rescue_log(path, loss, now_utc_s) if loss is not None else None


def refuse_damaged_log(path: Path) -> None:
    """Refuse to destroy a damaged log; no process may have the database open. Raises: StoreUnavailable."""
    loss = _find_loss(path)
    if loss is not None:
        raise unavailable("log", path, f"{loss.reason}; at least {loss.commits} committed transactions are lost")


def _find_loss(path: Path) -> damaged_log.Loss | None:
    try:
        return damaged_log.find_loss(path) if path.exists() else None
    except OSError as fault:
        raise unavailable("cannot_open", path, fault.strerror or str(fault)) from fault


def _prepare_file(connection: apsw.Connection, path: Path, busy_timeout_s: float) -> None:
    connection.set_busy_timeout(int(busy_timeout_s * 1000))
    if connection.readonly("main"):
        raise unavailable("read_only", path, "the file or its file system is read-only")
    found = connection.execute("PRAGMA quick_check(1)").get
    if found != "ok":
        words = " ".join(str(found).split()).removeprefix("*** in database main *** ")
        raise unavailable("corrupt", path, words)
    if connection.pragma("application_id") != APPLICATION_ID:
        _claim_file(connection, path)
    _set_pragmas(connection, path)


def _refuse_foreign(path: Path) -> None:
    # With plain reads: SQLite itself would replay or remove another program's journal.
    header = _read_header(path)
    if not header:
        return
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise unavailable("not_a_database", path, "its first bytes are something else")
    found = int.from_bytes(header[68:72], "big")
    if found == APPLICATION_ID:
        return
    if found or _pending_log(path) or _has_tables(path):
        raise unavailable("foreign", path, f"application id {found:#010x}")


def _read_header(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEADER_BYTES)
    except FileNotFoundError:
        return b""
    except OSError as fault:
        raise unavailable("cannot_open", path, fault.strerror or str(fault)) from fault


def _pending_log(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def _has_tables(path: Path) -> bool:
    # immutable: no locks, no journals, no shared memory (sqlite.org/uri.html).
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with translate_faults(path):
        connection = apsw.Connection(f"{path.absolute().as_uri()}?immutable=1", flags=flags)
        try:
            return bool(connection.execute(_SQL["user_tables"]).get)
        finally:
            connection.close()


def _claim_file(connection: apsw.Connection, path: Path) -> None:
    # Before WAL is switched on, so that the id is in the file itself however early we are killed.
    if connection.execute(_SQL["user_tables"]).get:
        raise unavailable("foreign", path, "it has tables and no application id of ours")
    # Before the first table: later only a VACUUM of the whole file could switch it on (sqlite.org/pragma.html).
    connection.pragma("auto_vacuum", "incremental")
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.pragma("application_id", APPLICATION_ID)
        connection.execute(_SQL["create"])
        connection.execute("COMMIT")
    except apsw.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _set_pragmas(connection: apsw.Connection, path: Path) -> None:
    mode = connection.pragma("journal_mode", "wal")
    if mode != "wal":
        raise StoreUnavailable(
            f"{path} cannot use a write-ahead log (it stays in mode {mode})",
            hint="ACU_HOME must lie on a local file system",
            fault="cannot_open",
            path=str(path),
        )
    # FULL: an acknowledged commit survives a power cut, which NORMAL does not promise in WAL mode.
    connection.pragma("synchronous", "FULL")
    # Deleted rows are overwritten, not only freed: a task, its conditions and the words from screens about them.
    connection.pragma("secure_delete", "ON")
    connection.pragma("foreign_keys", "ON")
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
