"""The store as files: copied while in use, verified, compacted, and replaced by a restored state.

A restored state is put in place by renames that a kill can only delay: the note `restore.json` is written once the new
state is complete in `.restoring`; from then on every start completes the exchange.
"""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path

import apsw
import msgspec
from msgspec import Struct

from acud.base.errors import StoreUnavailable
from acud.base.paths import sync
from acud.base.typed_values import decode_json
from acud.store import migration, rows
from acud.store.database_file import APPLICATION_ID, refuse_damaged_log
from acud.store.faults import translate_faults, unavailable

_SQL = rows.load("migrations")
_BUSY_MS = 10_000
STAGE = ".restoring"
_SWAP_NOTE = "restore.json"
_ITEMS = ("evidence", "recordings", "data.db")
_BESIDE = ("data.db-wal", "data.db-shm")
"""Files of the present database: without it they are meaningless, beside another database they would destroy it."""


def copy_file(path: Path, target: Path) -> str:
    """Copy the store at `path`, which its daemon may be writing, to `target`; return its newest migration's name.
    Raises: StoreUnavailable (also `foreign`, for a database that is not acud's).
    """
    with translate_faults(path), closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_timeout(_BUSY_MS)
        newest = _newest_step(connection, path)
        migration.copy_database(connection, path, target)
        return newest


def verify(path: Path) -> str:
    """Check every page, index and constraint of the copy at `path`, and that this acud knows its tables. Returns its
    newest migration's name. Raises: StoreUnavailable (`corrupt`, `foreign`, `not_a_database`, `newer_schema`).
    """
    as_it_is = f"{path.absolute().as_uri()}?immutable=1"  # no locks, no journals (sqlite.org/uri.html)
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with translate_faults(path), closing(apsw.Connection(as_it_is, flags=flags)) as found:
        newest = _newest_step(found, path)
        migration.check_known(_applied_steps(found), migration.known_migrations(), path)
        words = found.execute("PRAGMA integrity_check(1)").get
        if words != "ok":
            raise unavailable("corrupt", path, str(words))
        return newest


def compact(path: Path) -> None:
    """Rewrite the database at `path`, which no process has open, without free pages; later ones can be given back.
    Raises: StoreUnavailable.
    """
    refuse_damaged_log(path)
    with translate_faults(path), closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        _newest_step(connection, path)
        connection.pragma("auto_vacuum", "incremental")
        connection.execute("VACUUM")
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def _newest_step(connection: apsw.Connection, path: Path) -> str:
    found = int(connection.pragma("application_id"))
    if found != APPLICATION_ID:
        raise unavailable("foreign", path, f"application id {found:#010x}")
    return list(_applied_steps(connection).values())[-1]


def _applied_steps(connection: apsw.Connection) -> dict[int, str]:
    return {int(number): str(name) for number, name in connection.execute(_SQL["applied"])}


class _Note(Struct, frozen=True, forbid_unknown_fields=True):
    aside: str


def begin_swap(home: Path, aside: str) -> None:
    """Write the note: the content of `.restoring` becomes the state, and the present state is kept in `aside`."""
    draft = home / f".{_SWAP_NOTE}"
    with draft.open("wb") as file:
        file.write(msgspec.json.encode(_Note(aside)))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(home / _SWAP_NOTE)
    sync(home)


def finish_swap(home: Path) -> str:
    """Complete the exchange of the note, from wherever it stopped; return the folder of the former state, "" for no
    note. Raises: StoreUnavailable when the note is damaged; OSError.
    """
    note = home / _SWAP_NOTE
    if not note.exists():
        return ""
    aside = home / read_swap_note(note).aside
    aside.mkdir(mode=0o700, exist_ok=True)
    for item in _ITEMS:
        _exchange_item(home, aside, item)
    sync(aside)
    sync(home)
    note.unlink()
    shutil.rmtree(home / STAGE, ignore_errors=True)
    sync(home)
    return str(aside)


def read_swap_note(note: Path) -> _Note:
    try:
        found = decode_json(note.read_bytes(), _Note)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise StoreUnavailable(f"{note} is damaged: {fault}", hint="restore the backup again: acud restore") from fault
    if Path(found.aside).name != found.aside or found.aside in ("", ".", ".."):
        raise StoreUnavailable(f"{note} names no folder: {found.aside[:80]!r}", hint="remove it, and restore again")
    return found


def _exchange_item(home: Path, aside: Path, item: str) -> None:
    staged = home / STAGE / item
    if not staged.exists():
        return  # it is in its place already, or was never there
    for name in (*(_BESIDE if item == "data.db" else ()), item):
        # A kill between the two renames of an item leaves its place empty; then nothing is to be moved away.
        if (home / name).exists():
            (home / name).rename(aside / name)
    staged.rename(home / item)
