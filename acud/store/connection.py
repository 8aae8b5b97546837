"""The one SQLite connection: opening it safely, and the transaction that one loop turn shares."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import apsw

from acud.base.errors import AcudError, InvalidRequest, NotFound, StoreUnavailable
from acud.base.ids import FEWEST_OF_ENDING
from acud.store import database_file
from acud.store.faults import from_sqlite, translate_faults
from acud.store.rows import Row, RowCodec, T, Value

_NOTHING: Mapping[str, Value] = {}
_FAULTS = (apsw.Error, OverflowError)


class Database:
    """A connection and the transaction of the current turn.

    A turn begins with its first `write` and ends with `commit_turn`. Reads inside it see its writes. A storage fault
    (disk full, locked, I/O) at any point undoes the whole turn at once: every later write of the turn and its
    `commit_turn` raise that fault again, so that no half of a turn is ever committed. Blocks for the disk, and for
    `busy_timeout_s` when another process holds the file. Not for use by other threads.
    """

    def __init__(self, path: Path, *, busy_timeout_s: float, now_utc_s: float, keep_backups: int = 3) -> None:
        self.path = path
        self._begun = self._closed = False
        self.undone = 0  # how often writes were undone: caches of written values are void then
        self._broken: StoreUnavailable | None = None
        self.lost = database_file.keep_damaged_log(path, now_utc_s)  # what a damaged log lost; None: nothing
        self._connection = database_file.open_database(
            path,
            busy_timeout_s=busy_timeout_s,
            now_utc_s=now_utc_s,
            keep_backups=keep_backups,
            drop_log=self.lost is not None,
        )

    @property
    def in_turn(self) -> bool:
        """Whether a write was made or tried since the last commit."""
        return self._begun or self._broken is not None

    def read(self, sql: str, bindings: Mapping[str, Value] = _NOTHING) -> list[Row]:
        """Return the rows of a query by column name. Raises: StoreUnavailable."""
        try:
            cursor = self._connection.execute(sql, bindings)
            rows: list[Row] = []
            names: list[str] = []
            for values in cursor:
                names = names or [column[0] for column in cursor.get_description()]
                rows.append(dict(zip(names, values, strict=True)))
            return rows
        except _FAULTS as fault:
            raise self._undo_savepoint(fault) from fault

    def write(self, sql: str, bindings: Mapping[str, Value] = _NOTHING) -> int:
        """Run one changing statement in the turn's transaction; return the number of rows it changed. Raises:
        StoreUnavailable (the turn is undone); Conflict for a constraint (this statement alone is undone).
        """
        self.write_returning(sql, bindings)
        return self._connection.changes()

    def write_returning(self, sql: str, bindings: Mapping[str, Value] = _NOTHING) -> list[Row]:
        """Run one changing statement with a RETURNING clause; return its rows. Raises: as `write`."""
        self._begin_transaction()
        return self.read(sql, bindings)

    def insert(self, sql: str, bindings: Mapping[str, Value]) -> int:
        """Run one INSERT of one row in the turn's transaction; return its number (rowid). Raises: as `write`."""
        self.write_returning(sql, bindings)
        return self._connection.last_insert_rowid()

    def savepoint(self) -> Savepoint:
        """Return a context: it keeps all writes of the block or, when it raises, none of them; earlier writes of the
        turn stay. Nests. Raises: StoreUnavailable, also when an earlier write of this turn hit a storage fault.
        """
        return Savepoint(self)

    def begin_savepoint(self) -> None:
        """Begin the writes that `end_savepoint` keeps or undoes."""
        self._begin_transaction()
        self.read("SAVEPOINT mutation")

    def end_savepoint(self, *, keep: bool) -> None:
        if keep:
            self.read("RELEASE mutation")
        elif self._begun:
            self.undone += 1
            self.read("ROLLBACK TO mutation; RELEASE mutation")

    def commit_turn(self) -> None:
        """Make the turn's writes durable (fsynced when this returns); without writes do nothing. Raises:
        StoreUnavailable when any part of the turn failed or the commit does; then none of the turn remains.
        """
        if self._broken is not None:
            error, self._broken = self._broken, None
            raise _copy_error(error)
        if not self._begun:
            return
        try:
            self.read("COMMIT")
            self._begun = False
        finally:
            self._broken = None

    def rollback_turn(self) -> None:
        """Undo the turn's writes; harmless without writes."""
        self._roll_back()
        self._broken = None

    def close(self) -> None:
        """Undo an open turn and close; closing twice is harmless."""
        if self._closed:
            return
        self._closed = True
        self.rollback_turn()
        with translate_faults(self.path):
            self._connection.close()

    def _begin_transaction(self) -> None:
        if self._broken is not None:
            raise _copy_error(self._broken)
        if self._begun:
            return
        self._begun = True
        # IMMEDIATE: wait for the write lock now, not in the middle of the turn (sqlite.org/lang_transaction.html).
        self.read("BEGIN IMMEDIATE")

    def _undo_savepoint(self, fault: apsw.Error | OverflowError) -> AcudError:
        if isinstance(fault, OverflowError):  # refused before SQLite saw it: nothing of the turn is lost
            return InvalidRequest("a number is beyond the 64 bits that the store keeps")
        error = from_sqlite(fault, self.path)
        # SQLite itself may have ended the transaction (FULL, IOERR …): later writes must not start a second half.
        if self._begun and isinstance(error, StoreUnavailable):
            self._roll_back()
            self._broken = error
        return error

    def _roll_back(self) -> None:
        self._begun = False
        self.undone += 1
        if self._connection.in_transaction:
            with translate_faults(self.path):
                self._connection.execute("ROLLBACK")


class Savepoint:
    """See `Database.savepoint`. A class: it surrounds each mutation, and a generator takes twice as long."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.begin_savepoint()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._database.end_savepoint(keep=kind is None)


class Table:
    """The base of table groups: statements over the one connection. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _read_all(self, codec: RowCodec[T], sql: str, bindings: Mapping[str, Value] = _NOTHING) -> tuple[T, ...]:
        return tuple(map(codec.read, self._database.read(sql, bindings)))

    def _read_first(self, codec: RowCodec[T], sql: str, bindings: Mapping[str, Value]) -> T | None:
        rows = self._database.read(sql, bindings)
        return codec.read(rows[0]) if rows else None

    def _read_number(self, sql: str, bindings: Mapping[str, Value] = _NOTHING) -> int:
        """Return the one number that a query finds; 0 for NULL."""
        return int(next(iter(self._database.read(sql, bindings)[0].values())) or 0)

    def _find_named(self, codec: RowCodec[T], sql: dict[str, str], several: str, part: str, unknown: NotFound) -> T:
        """Return the one struct with an id (its first column) that is or begins with `part`, or else ends with it.
        `sql` has blocks `beginning` and `ending`, of few rows. Raises: `unknown`; InvalidRequest when `several` match.
        """
        rows, how = (self._database.read(sql["beginning"], {"beginning": part}) if part else []), "begin"
        if not rows and len(part) >= FEWEST_OF_ENDING and "-" not in part:
            rows, how = self._database.read(sql["ending"], {"ending": part}), "end"
        if not rows:
            raise unknown
        ids = [str(row[codec.key]) for row in rows]
        if len(rows) > 1 and ids[0] != part:
            raise InvalidRequest(f"{several} {how} with {part}: {', '.join(ids)}", hint="give more of the id")
        return codec.read(rows[0])


def _copy_error(error: StoreUnavailable) -> StoreUnavailable:
    return StoreUnavailable(error.message, hint=error.hint, **error.facts)
